import { randomUUID } from 'node:crypto';
import type { BaseRecord, Model } from './model.js';
import type { Storage } from './storage.js';

/** How long a worker holds a row, in milliseconds. Work on it must take less. */
export const QUEUE_LEASE_MS = 60_000;

/** A record that may wait for work in a queue. Its model needs an index on `dueAt` and `_id`. */
export interface QueuedRecord extends BaseRecord {
  /** Time of the next attempt; while leased, the end of the lease. Null when there is nothing to do. */
  dueAt: Date | null;
  /** Number of attempts, the current one included. */
  attempts: number;
  /** The worker that holds or last held the lease. */
  owner: string | null;
}
export const queuedFields = {
  dueAt: { type: Date, default: null },
  attempts: { type: Number, default: 0 },
  owner: { type: String, default: null },
} as const;

/**
 * A queue in the store. Each write is atomic, and a dead process holds a row for a minute at most.
 * @param waitsMs delays after the first, second, … and all later failures, in milliseconds
 */
export function createLeasedQueue<R extends QueuedRecord>(
  storage: Pick<Storage, 'clock' | 'time'>,
  { collection }: Model<R>,
  waitsMs: readonly [number, ...number[]],
) {
  const { clock } = storage;
  const owner = randomUUID();
  /** The row while this worker holds it. Every claim increments `attempts`, so a lease that was lost does not match. */
  const heldBy = ({ _id, attempts }: R) => ({ _id, owner, attempts }) as object;
  const retryAt = ({ attempts }: R) => new Date(clock.now().getTime() + (waitsMs[attempts - 1] ?? waitsMs.at(-1) ?? 0));

  return {
    heldBy,
    /** When a row is due again if this attempt fails. */
    retryAt,

    /**
     * Leases the row that has been due longest; undefined when none is due. The lease counts in the store's time: by process
     * clocks, processes that differ would steal rows from each other (decisions H14). A free row is also due by the process's own
     * clock, so that one queued by a process whose clock is ahead does not wait.
     * @param set other fields to write, as aggregation expressions
     * @param where what else the row must match
     */
    async claim(set: object = {}, except: readonly string[] = [], where: object = {}): Promise<R | undefined> {
      const now = await storage.time();
      const latest = new Date(Math.max(now.getTime(), clock.now().getTime()));
      const isFree = { $or: [{ owner: null }, { dueAt: { $lte: now } }] };
      // the type lets an index of dates alone serve it
      const dueAt = { $lte: latest, $type: 'date' };
      const filter = { ...where, dueAt, ...isFree, ...(except.length > 0 && { _id: { $nin: except } }) };
      const lease = { owner, dueAt: new Date(now.getTime() + QUEUE_LEASE_MS), attempts: { $add: ['$attempts', 1] } };
      const claimed = await collection.findOneAndUpdate(filter as object, [{ $set: { ...set, ...lease, updatedAt: now } }], {
        sort: { dueAt: 1, _id: 1 },
        returnDocument: 'after',
      });
      return (claimed as unknown as R | null) ?? undefined;
    },

    /** Releases a row after a failure, with a growing delay. */
    async postpone(row: R): Promise<void> {
      const release = { dueAt: retryAt(row), owner: null, updatedAt: clock.now() };
      await collection.updateOne(heldBy(row), { $set: release as object });
    },
  };
}
