import { createLeasedQueue, isDuplicateKey, type Storage } from '@tandem/storage';
import { lineModel, type LineRecord } from './delivery.models.js';

/** How long a receiver counts as slow from a slow answer on, or from its first message on, in milliseconds. */
export const SLOW_FOR_MS = 60 * 60_000;

/** What the worker on a line leaves behind. */
export interface LineState {
  /** When there is work again; null for never. */
  dueAt: Date | null;
  failingSince: Date | null;
  failingUrl: string | null;
  slowUntil: Date | null;
}

/** The queue of webhooks that have deliveries which are due. One worker of all instances holds a webhook at a time. */
export function createLines(storage: Storage) {
  const Lines = storage.model(lineModel);
  const { collection } = Lines;
  const { clock } = storage;
  const { claim, heldBy } = createLeasedQueue(storage, Lines, [0]);

  function wakeAll(webhookIds: readonly string[], at: Date) {
    const now = clock.now();
    // a leased line keeps its lease; whoever holds it sees that it was woken
    const dueAt = { $cond: [{ $eq: [{ $ifNull: ['$owner', null] }, null] }, { $min: ['$dueAt', at] }, '$dueAt'] };
    const wakes = { $add: [{ $ifNull: ['$wakes', 0] }, 1] };
    // nobody knows yet how soon it answers: by new webhooks one caller could take all lanes, again and again
    const whenNew = { $eq: [{ $type: '$slowUntil' }, 'missing'] };
    const slowUntil = { $cond: [whenNew, new Date(now.getTime() + SLOW_FOR_MS), '$slowUntil'] };
    const fields = { attempts: { $ifNull: ['$attempts', 0] }, owner: { $ifNull: ['$owner', null] }, dueAt, wakes, slowUntil };
    const update = [{ $set: { ...fields, createdAt: { $ifNull: ['$createdAt', now] }, updatedAt: now } }];
    const writes = webhookIds.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
    return collection.bulkWrite(writes as never[], { ordered: false });
  }

  return {
    /** Says that webhooks have deliveries which are due at a time. Write these first. */
    async wake(webhookIds: readonly string[], at: Date): Promise<void> {
      if (webhookIds.length === 0) return;
      await wakeAll(webhookIds, at).catch((error: unknown) => {
        // two first ones raced
        if (!isDuplicateKey(error)) throw error;
        return wakeAll(webhookIds, at);
      });
    },

    /** Leases the webhook that has been due longest; undefined when none is due. */
    claim: (where: object): Promise<LineRecord | undefined> => claim({}, [], where),

    /** Whether this worker still has the line: after a pause another may have taken it, and done more. */
    async holds(line: LineRecord): Promise<boolean> {
      const held = { ...heldBy(line), dueAt: { $gt: await storage.time() } };
      return (await collection.countDocuments(held, { limit: 1 })) > 0;
    },

    /** Gives a lease back. The line is due at once if it was woken since it was claimed. */
    async release(line: LineRecord, { dueAt, ...state }: LineState): Promise<void> {
      const next = { $cond: [{ $eq: ['$wakes', line.wakes] }, dueAt, line.updatedAt] };
      await collection.updateOne(heldBy(line), [{ $set: { ...state, dueAt: next, owner: null, updatedAt: clock.now() } }]);
    },
  };
}
export type Lines = ReturnType<typeof createLines>;
