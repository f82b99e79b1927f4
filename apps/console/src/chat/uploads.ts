import { describeFailure, randomId, uploadFile, type Fetch, type TandemClient } from '@tandem/client';
import type { Drafts } from './drafts.js';
import { ToldFailure } from '../ui/failure-text.js';
import { t } from '../texts/texts.js';

/** Most files of a message, and most bytes of a file. */
export const [FILES_MAX, BYTES_MAX] = [10, 10_000_000];

interface Place {
  client: TandemClient;
  drafts: Drafts;
  place: string;
  channelId: string;
}

const running = new Map<string, AbortController>();

/** Adds files to a draft, and begins to upload them. */
export function attach({ client, drafts, place, channelId }: Place, files: readonly File[]): void {
  for (const file of files) {
    const id = randomId();
    const error = refusalOf(file, drafts.of(place).files.length);
    drafts.change(place, { files: [...drafts.of(place).files, { id, file, progress: 0, error }] });
    if (error) continue;
    const stopping = new AbortController();
    running.set(id, stopping);
    const fetch = fetchWithProgress((progress) => drafts.changeFile(place, id, { progress }));
    upload(client.api.chat.postedFileUploadUrl, { channelId }, file, { signal: stopping.signal, fetch })
      .then((uploaded) => drafts.changeFile(place, id, { uploaded, progress: 1 }))
      .catch((error: unknown) => drafts.changeFile(place, id, { error }))
      .finally(() => running.delete(id));
  }
}

/** Takes a file out of a draft, and stops its upload. */
export function detach(drafts: Drafts, place: string, id: string): void {
  running.get(id)?.abort();
  drafts.change(place, { files: drafts.of(place).files.filter((one) => one.id !== id) });
}

/** Uploads a file. @throws ToldFailure if files of its kind cannot be sent */
export const upload: typeof uploadFile = async (procedure, input, file, options) => {
  try {
    return await uploadFile(procedure, input, file, options);
  } catch (error) {
    throw describeFailure(error).status === 400 ? new ToldFailure(t('chat.files.refused')) : error;
  }
};

/** What keeps a file from being sent with as many others; undefined if nothing does. */
export function refusalOf({ size }: File, before: number): ToldFailure | undefined {
  if (before >= FILES_MAX) return new ToldFailure(t('chat.files.tooMany', { most: FILES_MAX }));
  if (size > BYTES_MAX) return new ToldFailure(t('chat.files.tooLarge'));
  return size === 0 ? new ToldFailure(t('chat.files.empty')) : undefined;
}

/** `fetch` tells nothing of how far an upload has come. */
function fetchWithProgress(onProgress: (progress: number) => void): Fetch {
  return (url, init) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(init?.method ?? 'GET', url instanceof Request ? url.url : url.toString());
      for (const [name, value] of new Headers(init?.headers)) request.setRequestHeader(name, value);
      request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
      request.addEventListener('load', () => {
        const isEmpty = [204, 205, 304].includes(request.status);
        resolve(new Response(isEmpty ? null : request.responseText, { status: request.status }));
      });
      request.addEventListener('error', () => reject(new TypeError('the upload failed')));
      request.addEventListener('abort', () => reject(new DOMException('the upload was stopped', 'AbortError')));
      init?.signal?.addEventListener('abort', () => request.abort());
      request.send(init?.body as XMLHttpRequestBodyInit);
    });
}
