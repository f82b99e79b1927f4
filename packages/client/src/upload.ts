import type { Fetch } from './transport.js';
import { codeOfAnswer } from './error-code.js';
import { UploadError } from './upload-error.js';

/** The request for an upload URL. */
export interface UploadRequest {
  contentType: string;
  /** In bytes. */
  contentLength: number;
}

/** A procedure that returns upload URLs, such as `client.api.products.imageUploadUrl`. */
export interface UploadProcedure<Input extends UploadRequest> {
  query(input: Input, options?: { signal?: AbortSignal }): Promise<{ objectId: string; url: string }>;
}

/**
 * An uploaded file, in the form that attaching procedures take: `client.api.products.addImage.mutate({ productId,
 * ...image })`.
 */
export interface UploadedFile {
  objectId: string;
  type: string;
}

export interface UploadOptions {
  /** Aborts the upload, which then fails. */
  signal?: AbortSignal;
  /** Sends the file. Default: the platform's. Without credentials: the URL is the permission. */
  fetch?: Fetch;
}

/** The message of Tandem's own storage, or what is known of another's refusal. */
async function refusalOf(answer: Response): Promise<UploadError> {
  const body = (await answer.json().catch(() => undefined)) as { error?: { message?: unknown } } | undefined;
  const said = body?.error?.message;
  const message = typeof said === 'string' ? said : `the storage answered ${answer.status}`;
  return new UploadError(answer.status, message, codeOfAnswer(answer));
}

/** Uses an address again for this long, in milliseconds: it is good for longer, and a person has a limited number of them. */
const ADDRESS_MS = 10 * 60_000;

/** A function that uploads a file as `uploadFile` does, and may be called again: it goes on with the same address. */
export function createUpload<Input extends UploadRequest>(
  procedure: UploadProcedure<Input>,
  input: Omit<Input, keyof UploadRequest>,
  file: Blob,
  { signal, fetch = globalThis.fetch }: UploadOptions = {},
): () => Promise<UploadedFile> {
  const [type = ''] = file.type.split(';');
  const asked = { ...input, contentType: type, contentLength: file.size } as unknown as Input;
  let address: { objectId: string; url: string; until: number } | undefined;
  return async () => {
    if (!address || address.until <= Date.now()) {
      const until = Date.now() + ADDRESS_MS;
      address = { ...(await procedure.query(asked, signal && { signal })), until };
    }
    const { objectId, url } = address;
    const answer = await fetch(url, {
      method: 'PUT',
      headers: { 'content-type': type },
      body: file,
      credentials: 'omit',
      ...(signal && { signal }),
    });
    if (!answer.ok) throw await refusalOf(answer);
    return { objectId, type };
  };
}

/**
 * Uploads a file: asks a procedure for a URL, and puts the file there, whichever storage it leads to. The result still
 * has to be attached to a record. Fails as the procedure does, with an UploadError when the storage refuses, and with
 * what `fetch` throws when it cannot be reached.
 * @param procedure returns the URL
 * @param input the procedure's input besides type and size: `{ productId }`
 * @param file its `type` is the media type, sent without parameters
 */
export async function uploadFile<Input extends UploadRequest>(
  procedure: UploadProcedure<Input>,
  input: Omit<Input, keyof UploadRequest>,
  file: Blob,
  options?: UploadOptions,
): Promise<UploadedFile> {
  return createUpload(procedure, input, file, options)();
}
