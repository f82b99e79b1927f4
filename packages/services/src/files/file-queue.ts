import { randomUUID } from 'node:crypto';
import type { Model, Storage } from '@tandem/storage';
import { dueRows } from '../shared/due.js';
import type { FileRecord } from './file.model.js';

/** For how long nobody else tries a file that is being removed, in milliseconds: longer than any try. */
export const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits after the first, second, … and every further failure, in milliseconds. A file is never given up. */
const WAITS_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;

/** The files that are to be removed: each write is atomic, and a process that dies holds a file for a minute at most. */
export function createFileQueue(storage: Storage, { collection }: Model<FileRecord>) {
  const { clock } = storage;
  const owner = randomUUID();
  const ownOf = ({ _id, attempts }: FileRecord) => ({ _id, owner, attempts }) as object;

  return {
    /**
     * Takes the file that has been due for the longest time, for `LEASE_MS`; undefined when none is. One that was issued and never attached is
     * due too, after its time, and from this write on it cannot be attached any more. Of an attached one what it was uploaded as is due.
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

    /** What was due has gone. */
    async done(file: FileRecord): Promise<void> {
      if (file.state !== 'attached') return void (await collection.deleteOne(ownOf(file)));
      // unless it was removed meanwhile
      const own = { ...ownOf(file), state: 'attached' };
      await collection.updateOne(own, { $set: { copies: [file.storedAs], dueAt: null, owner: null, attempts: 0 } });
    },

    /** Puts a file back after a failure, for a time that grows. */
    async postpone(file: FileRecord): Promise<void> {
      const now = clock.now();
      const wait = WAITS_MS[file.attempts - 1] ?? WAITS_MS[WAITS_MS.length - 1] ?? 0;
      await collection.updateOne(ownOf(file), {
        $set: { dueAt: new Date(now.getTime() + wait), owner: null, updatedAt: now },
      });
    },
  };
}
