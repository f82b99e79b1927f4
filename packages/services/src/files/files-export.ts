import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { FilesDriver, StoredObject } from '@tandem/drivers/files';
import type { Model } from '@tandem/storage';
import type { FileRecord } from './file.model.js';

/** A file of a person, with what is stored of it. */
export interface OwnFile {
  id: string;
  type: string;
  size: number;
  /** Undefined where the object is gone. @throws when the storage is unavailable */
  open(): Promise<Readable | undefined>;
}

/** An answer that is no success. */
class TransferError extends Error {
  constructor(status: number) {
    super(`the storage of files answered ${status}`);
  }
}

/** Whole objects, which the server itself reads and writes: by the driver, else by its addresses. */
export function createWholeFiles(Files: Model<FileRecord>, driver: FilesDriver | undefined) {
  function driverOf(): FilesDriver {
    if (!driver) throw new Error('no files driver is configured');
    return driver;
  }

  async function read(object: StoredObject): Promise<Readable | undefined> {
    const { read: direct, downloadUrl } = driverOf();
    if (direct)
      return direct(object).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return undefined;
      });
    const answer = await fetch(await downloadUrl(object));
    if (answer.status === 404) {
      await answer.body?.cancel();
      return undefined;
    }
    if (!answer.ok || !answer.body) throw new TransferError(answer.status);
    return Readable.from(answer.body);
  }

  return {
    /** @throws Error when there is no file storage */
    expectDriver: (): void => void driverOf(),

    /** The attached files that a person has uploaded, oldest first. */
    async *ofPerson(identityId: string): AsyncGenerator<OwnFile> {
      const attached = { issuedTo: identityId, state: 'attached' } as object;
      for await (const record of Files.collection.find(attached, { sort: { _id: 1 } })) {
        const { _id: id, objectId, storedAs, type, size } = record as unknown as FileRecord;
        yield { id, type, size, open: () => read({ objectId: storedAs ?? objectId, type, size }) };
      }
    },

    /** Stores a file of this machine as an object. @throws when the storage refuses it */
    async store(object: StoredObject, file: string): Promise<void> {
      const { write, uploadUrl } = driverOf();
      const body = createReadStream(file);
      if (write) return write(object, body);
      const headers = { 'content-type': object.type, 'content-length': String(object.size) };
      const put = { method: 'PUT', headers, body: Readable.toWeb(body) as globalThis.ReadableStream, duplex: 'half' } as const;
      const answer = await fetch(await uploadUrl(object), put);
      if (!answer.ok) throw new TransferError(answer.status);
    },

    /** @throws when the storage is unavailable */
    drop: (objectId: string): Promise<void> => driverOf().remove(objectId),

    /** An address to download an object from, for a time. */
    addressOf: (object: StoredObject, milliseconds: number): Promise<string> => driverOf().downloadUrl(object, milliseconds),
  };
}
export type WholeFiles = ReturnType<typeof createWholeFiles>;
