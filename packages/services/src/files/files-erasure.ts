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

  /**
   * Removes queued files at once, up to the first that fails: an outage must not keep others waiting for each of the rest.
   * @throws the signal's reason once it is aborted
   */
  async function removeNow(files: Iterable<FileRecord> | AsyncIterable<FileRecord>, signal?: AbortSignal): Promise<void> {
    for await (const file of files)
      for (const key of keysOf(file)) {
        signal?.throwIfAborted();
        try {
          await driver?.remove(key);
        } catch (error) {
          log.warn({ fileId: file._id, err: describeError(error) }, 'files were not removed at once; they will be removed later');
          return;
        }
      }
  }

  /** Gives files to the queue that removes them. @returns those */
  async function queue(filter: object): Promise<FileRecord[]> {
    const queued: FileRecord[] = [];
    for (;;) {
      const alive = { $and: [filter, { state: { $ne: 'removing' } }] } as object;
      const files = (await collection.find(alive, { limit: BATCH }).toArray()) as unknown as FileRecord[];
      if (files.length === 0) return queued;
      await collection.updateMany({ _id: { $in: files.map(({ _id }) => _id) } } as object, removal(driver, storage.clock.now()));
      queued.push(...files);
    }
  }

  storage.people.filesBy(async (purposes, resourceIds) => {
    const attached = { purpose: { $in: [...purposes] }, resourceId: { $in: [...resourceIds] }, state: 'attached' };
    await removeNow(await queue(attached));
  });

  /** Files that are attached to records which stay, stay with them. */
  const step: ErasureStep = async ({ id }, { blank, signal }) => {
    const unused = { state: 'issued' };
    const gone = blank ? { $or: [unused, { purpose: WITH_TEXTS }] } : unused;
    const queued = await queue({ issuedTo: id, ...gone });
    // with those of an attempt that died in between
    const removing = collection.find({ issuedTo: id, state: 'removing' } as object) as unknown as AsyncIterable<FileRecord>;
    await removeNow(removing, signal);
    return queued.length;
  };
  return step;
}
