import { Readable } from 'node:stream';
import type { FilesDriver } from '@tandem/drivers/files';

/** Sends a file to an upload URL. */
export type Upload = (address: { objectId: string; url: string }, type: string, content: Buffer) => Promise<void>;

/** Uploads files to a storage, even one whose URLs lead to a server that is not running. */
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
