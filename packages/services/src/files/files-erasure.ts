import { describeError, type Log } from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import type { Model, Storage } from '@tandem/storage';
import type { ErasureStep } from '../personal-data/erasures.service.js';
import type { FileRecord } from './file.model.js';
import { keysOf, removal } from './removal.js';

const BATCH = 100;
/** What messages without texts do not keep either. */
const WITH_TEXTS = 'message-attachment';

interface FilesErasureOptions {
  storage: Storage;
  Files: Model<FileRecord>;
  driver: FilesDriver | undefined;
  log: Log;
}

/** The end of files whose record or person goes for good: at once, and again when no upload can follow. */
export function createFilesErasure({ storage, Files, driver, log }: FilesErasureOptions) {
  const { collection } = Files;

  async function removeAll(files: readonly FileRecord[]): Promise<void> {
    for (const file of files)
      for (const key of keysOf(file))
        await driver?.remove(key).catch((error: unknown) => {
          log.warn({ fileId: file._id, err: describeError(error) }, 'a file was not removed at once; it will be removed later');
        });
  }

  /** @returns how many files were found */
  async function removeNow(filter: object): Promise<number> {
    let count = 0;
    for (;;) {
      const alive = { $and: [filter, { state: { $ne: 'removing' } }] } as object;
      const files = (await collection.find(alive, { limit: BATCH }).toArray()) as unknown as FileRecord[];
      if (files.length === 0) return count;
      await collection.updateMany({ _id: { $in: files.map(({ _id }) => _id) } } as object, removal(driver, storage.clock.now()));
      await removeAll(files);
      count += files.length;
    }
  }

  storage.people.filesBy(async (purposes, resourceIds) => {
    const attached = { purpose: { $in: [...purposes] }, resourceId: { $in: [...resourceIds] }, state: 'attached' };
    await removeNow(attached);
  });

  /** Files that are attached to records which stay, stay with them. */
  const step: ErasureStep = async ({ id }, { blank }) => {
    const unused = { state: 'issued' };
    const gone = blank ? { $or: [unused, { purpose: WITH_TEXTS }] } : unused;
    const count = await removeNow({ issuedTo: id, ...gone });
    // a process may have died between the two
    const removing = collection.find({ issuedTo: id, state: 'removing' } as object);
    await removeAll((await removing.toArray()) as unknown as FileRecord[]);
    return count;
  };
  return step;
}
