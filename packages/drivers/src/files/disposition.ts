/** Types that a browser may show in place; whatever else, SVG and HTML before all, it is told to save. */
const SHOWN_IN_PLACE = /^(image\/(jpeg|png|webp|gif|avif|bmp|x-icon|tiff|heif|heic)|audio\/[\w.+-]+|video\/[\w.+-]+)$/;

/** The `Content-Disposition` of a type (decisions, section 6: SVG and HTML are never served inline). */
export function dispositionOf(type: string): 'inline' | 'attachment' {
  return SHOWN_IN_PLACE.test(type) ? 'inline' : 'attachment';
}
