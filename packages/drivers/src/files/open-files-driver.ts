import { openDiskFilesDriver, type DiskFilesOptions } from './disk-files.driver.js';
import type { FilesDriver } from './files.driver.js';
import { readS3Url } from './s3-url.js';

/** `dir`, `secrets` and `publicUrl` are for files on disk: the folder, the signing secrets, the server's public URL. */
export type FilesDriverOptions = DiskFilesOptions;

/** Whether `openFilesDriver` accepts this URL. */
export function isFilesUrl(url: string): boolean {
  if (url === 'disk:') return true;
  try {
    return readS3Url(url).bucket !== '';
  } catch {
    return false;
  }
}

/**
 * The driver for a URL. Opens no connection yet.
 * @param url `disk:`, or `s3://bucket/folder?endpoint=…&region=…` (with `key:secret@` before the bucket, or the SDK's
 * own credentials)
 * @throws Error that does not repeat the URL, which may contain a secret
 */
export async function openFilesDriver(url: string, options: FilesDriverOptions): Promise<FilesDriver> {
  if (url === 'disk:') return openDiskFilesDriver(options);
  // loaded on demand: the AWS SDK is slow to load
  const { openS3FilesDriver } = await import('./s3-files.driver.js');
  return openS3FilesDriver(url, options.now);
}
