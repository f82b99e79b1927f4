import type { ErrorCode } from './router-types.js';

/** The storage refused a file: the URL has expired, or the file's type or size differs from the request. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
  constructor(
    /** HTTP status of the storage's answer. */
    readonly status: number,
    message: string,
    /** Which error it is; undefined where another storage than Tandem's own has refused. */
    readonly code?: ErrorCode,
  ) {
    super(message);
  }
}
