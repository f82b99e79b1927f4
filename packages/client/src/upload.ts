import type { Fetch } from './transport.js';
import { UploadError } from './upload-error.js';

/** What an address for a file is asked for with. */
export interface UploadRequest {
  contentType: string;
  /** In bytes. */
  contentLength: number;
}

/** A procedure that gives addresses for files, such as `client.api.products.imageUploadUrl`. */
export interface UploadProcedure<Input extends UploadRequest> {
  query(input: Input, options?: { signal?: AbortSignal }): Promise<{ objectId: string; url: string }>;
}

/** An uploaded file, as the procedures take it that attach one: `client.api.products.addImage.mutate({ productId, ...image })`. */
export interface UploadedFile {
  objectId: string;
  type: string;
}

export interface UploadOptions {
  /** Breaks the upload off, which fails then. */
  signal?: AbortSignal;
  /** What sends the file. Default: the platform's. No credentials are sent: the address is the permission. */
  fetch?: Fetch;
}

/** The words of Tandem's own storage, and what there is to say of another's. */
async function refusalOf(answer: Response): Promise<UploadError> {
  const body = (await answer.json().catch(() => undefined)) as { error?: { message?: unknown } } | undefined;
  const said = body?.error?.message;
  return new UploadError(answer.status, typeof said === 'string' ? said : `the storage answered ${answer.status}`);
}

/**
 * Uploads a file: asks a procedure for an address, and puts the file there, whichever storage it leads to. What comes of it still has to be
 * attached to a record.
 * @param procedure gives the address
 * @param input what the procedure takes beside type and size: `{ productId }`
 * @param file its `type` is the media type; parameters of it are left out
 * Fails as the procedure does, with an UploadError when the storage refuses, and with what `fetch` throws when it cannot be reached.
 */
export async function uploadFile<Input extends UploadRequest>(
  procedure: UploadProcedure<Input>,
  input: Omit<Input, keyof UploadRequest>,
  file: Blob,
  { signal, fetch = globalThis.fetch }: UploadOptions = {},
): Promise<UploadedFile> {
  const [type = ''] = file.type.split(';');
  const asked = { ...input, contentType: type, contentLength: file.size } as unknown as Input;
  const { objectId, url } = await procedure.query(asked, signal && { signal });
  const answer = await fetch(url, {
    method: 'PUT',
    headers: { 'content-type': type },
    body: file,
    credentials: 'omit',
    ...(signal && { signal }),
  });
  if (!answer.ok) throw await refusalOf(answer);
  return { objectId, type };
}
