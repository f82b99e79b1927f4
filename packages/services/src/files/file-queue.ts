import { randomUUID } from 'node:crypto';
import type { Model, Storage } from '@tandem/storage';
import { dueRows } from '../shared/due.js';
import type { FileRecord } from './file.model.js';

/** How long a worker holds a file it is removing, in milliseconds: longer than any attempt. */
export const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Delays after the first, second, … and all later failures, in milliseconds. A file is never given up. */
const WAITS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;

/** The queue of files to remove. Each write is atomic, and a dead process holds a file for a minute at most. */
export function createFileQueue(storage: Storage, { collection }: Model<FileRecord>) {
  const { clock } = storage;
  const owner = randomUUID();
  const ownOf = ({ _id, attempts }: FileRecord) => ({ _id, owner, attempts }) as object;

  return {
    /**
     * Leases the file that has been due longest, for `LEASE_MS`; undefined when none is due. An issued file that was not attached
     * in time is due too, and cannot be attached after this write. For an attached file, the upload it was copied from and
     * leftover copies are due.
     */
    async claim(): Promise<FileRecord | undefined> {
      const { due, now } = await dueRows(storage);
      const state = { $cond: [{ $eq: ['$state', 'attached'] }, '$state', 'removing'] };
      const attempts = { $add: ['$attempts', 1] };
      const lease = { state, slot: null, owner, attempts, dueAt: new Date(now.getTime() + LEASE_MS), updatedAt: now };
      const claimed = await collection.findOneAndUpdate(due, [{ $set: lease }], {
        sort: { dueAt: 1, _id: 1 },
        returnDocument: 'after',
      });
      return (claimed as unknown as FileRecord | null) ?? undefined;
    },

    /** Records that everything due was removed. */
    async done(file: FileRecord): Promise<void> {
      if (file.state !== 'attached') return void (await collection.deleteOne(ownOf(file)));
      // unless the file was removed meanwhile
      const own = { ...ownOf(file), state: 'attached' };
      await collection.updateOne(own, { $set: { copies: [file.storedAs], dueAt: null, owner: null, attempts: 0 } });
    },

    /** Releases a file after a failure, with a growing delay. */
    async postpone(file: FileRecord): Promise<void> {
      const now = clock.now();
      const wait = WAITS_MS[file.attempts - 1] ?? WAITS_MS[WAITS_MS.length - 1] ?? 0;
      await collection.updateOne(ownOf(file), {
        $set: { dueAt: new Date(now.getTime() + wait), owner: null, updatedAt: now },
      });
    },
  };
}
