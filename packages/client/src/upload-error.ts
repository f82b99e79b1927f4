/** The storage has refused a file: its address is too old, or the file has another type or size than it was asked for. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
  constructor(
    /** HTTP status of the storage's answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
