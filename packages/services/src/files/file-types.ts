/** Media types allowed for images. */
export const IMAGE_TYPES = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/svg+xml',
  'image/avif',
  'image/bmp',
  'image/x-icon',
  'image/tiff',
  'image/heif',
  'image/heic',
] as const;

/** Media types allowed for certificates. */
export const CERTIFICATE_TYPES = ['application/pdf', 'image/gif', 'image/jpeg', 'image/png'] as const;

/** Types that may not be attached to messages: programs, scripts, archives, and types that could hide them. */
const DENIED_TYPES: ReadonlySet<string> = new Set([
  'application/x-msdownload',
  'application/x-msdos-program',
  'application/x-bat',
  'application/cmd',
  'application/x-msi',
  'application/x-pif',
  'application/vnd.microsoft.portable-executable',
  'application/javascript',
  'application/x-javascript',
  'application/wasm',
  'text/javascript',
  'text/vbscript',
  'application/vbs',
  'application/wsf',
  'application/x-powershell',
  'application/x-sh',
  'application/x-csh',
  'application/x-perl',
  'application/x-httpd-php',
  'text/x-python',
  'text/x-perl',
  'application/zip',
  'application/x-rar-compressed',
  'application/vnd.rar',
  'application/x-7z-compressed',
  'application/x-tar',
  'application/gzip',
  'application/x-ms-shortcut',
  'application/x-iso9660-image',
  'application/octet-stream',
  'application/vnd.android.package-archive',
  'application/java-archive',
]);

/** A media type without parameters (RFC 6838), in lower case. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** Whether a file of this type may be attached to a message. */
export function isAttachmentType(type: string): boolean {
  return MEDIA_TYPE.test(type) && !DENIED_TYPES.has(type);
}
