import { MAJORITY, createLeasedQueue, type Model, type Storage } from '@tandem/storage';
import type { FileRecord } from './file.model.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A file is never given up. */
const WAITS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;

/** The queue of files to remove. */
export function createFileQueue(storage: Storage, Files: Model<FileRecord>) {
  const { claim, heldBy, retryAt } = createLeasedQueue(storage, Files, WAITS_MS);
  return {
    /**
     * Leases the file that has been due longest; undefined when none is due. An issued file that was not attached in time is due
     * too, and cannot be attached after this write. For an attached file, the upload it was copied from and leftover copies are
     * due.
     */
    claim: () => claim({ state: { $cond: [{ $eq: ['$state', 'attached'] }, '$state', 'removing'] }, slot: null }),

    /** Records that everything due was removed. */
    async done(file: FileRecord): Promise<void> {
      if (file.state !== 'attached') return void (await Files.collection.deleteOne(heldBy(file)));
      // unless the file was removed meanwhile
      const own = { ...heldBy(file), state: 'attached' };
      await Files.collection.updateOne(own, { $set: { copies: [file.storedAs], dueAt: null, owner: null, attempts: 0 } });
    },

    /** Detaches a file that is held, for good. Returns it, or undefined if it was removed meanwhile. */
    async condemn(file: FileRecord): Promise<FileRecord | undefined> {
      const own = { ...heldBy(file), state: 'attached' };
      const { matchedCount } = await Files.collection.updateOne(own, { $set: { state: 'removing' } });
      return matchedCount === 0 ? undefined : { ...file, state: 'removing' };
    },

    /** Whether a file is held, and attached as it was. */
    async isAsClaimed(file: FileRecord): Promise<boolean> {
      const { state, resourceId, storedAs } = file;
      const same = { ...heldBy(file), state, resourceId, storedAs } as object;
      return (await Files.collection.countDocuments(same, { limit: 1, ...MAJORITY })) > 0;
    },

    /** Releases a file after a failure, with a growing delay, unless it was given back or removed meanwhile. */
    async postpone(file: FileRecord): Promise<void> {
      const release = { dueAt: retryAt(file), owner: null, updatedAt: storage.clock.now() };
      await Files.collection.updateOne({ ...heldBy(file), state: file.state }, { $set: release });
    },
  };
}
