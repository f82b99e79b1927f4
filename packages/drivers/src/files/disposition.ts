/** Types that a browser may display; all others, above all SVG and HTML, are downloaded. A `+` could make any type XML. */
const SHOWN_IN_PLACE = /^(image\/(jpeg|png|webp|gif|avif|bmp|x-icon|tiff|heif|heic)|(audio|video)\/[\w.-]+)$/;

/**
 * The `Content-Disposition` for a type. SVG and HTML are never served inline, because they can run scripts (decisions,
 * section 6).
 */
export function dispositionOf(type: string): 'inline' | 'attachment' {
  return SHOWN_IN_PLACE.test(type) ? 'inline' : 'attachment';
}
