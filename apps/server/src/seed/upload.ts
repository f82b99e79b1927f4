import { Readable } from 'node:stream';
import type { FilesDriver } from '@tandem/drivers/files';

/** Puts a file where an upload address leads. */
export type Upload = (address: { objectId: string; url: string }, type: string, content: Buffer) => Promise<void>;

/** Puts files into a storage, also into one whose addresses are those of a server that need not be running. */
export function createUpload({ local }: FilesDriver): Upload {
  return async function upload({ objectId, url }, type, content) {
    if (local) {
      await local.receive({ objectId, type, size: content.length }, Readable.from([content]), async () => {});
      return;
    }
    const { ok, status } = await fetch(url, { method: 'PUT', body: new Uint8Array(content), headers: { 'content-type': type } });
    if (!ok) throw new Error(`the storage of files answered ${status} to an upload`);
  };
}
