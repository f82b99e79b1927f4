import { randomUUID } from 'node:crypto';
import { isDuplicateKey, newId, type Storage } from '@tandem/storage';
import { dueRows } from '../shared/due.js';
import { queuedMailModel, type QueuedMailRecord } from './mail.model.js';

/** How long a worker holds a mail it is sending, in milliseconds: longer than any attempt. */
export const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Delays after the first, second, … and all later failures, in milliseconds. */
const WAITS_MS = [10_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;
/** Age at which a mail is given up, in milliseconds. */
const GIVE_UP_MS = 48 * HOUR_MS;

export type NewMail = Pick<QueuedMailRecord, 'template' | 'to' | 'identityId' | 'values' | 'expiresAt'> & {
  id: string | undefined;
};

/** The mails waiting to be sent. */
export interface QueueState {
  length: number;
  oldestAt: Date | undefined;
}

/** Whether an insert failed only because mails were queued already. */
function isOnlyDoubles(error: unknown): boolean {
  const { writeErrors } = error as { writeErrors?: { code?: unknown }[] };
  return isDuplicateKey(error) !== false && (writeErrors ?? []).every(({ code }) => code === 11_000);
}

/** The mail queue in the store. Each write is atomic, and a dead process holds a mail for a minute at most. */
export function createMailQueue(storage: Storage) {
  const { collection } = storage.model(queuedMailModel);
  const { clock } = storage;
  const owner = randomUUID();

  return {
    /** Adds mails by one write. Skips those whose id is queued already. */
    async add(mails: readonly NewMail[]): Promise<void> {
      const now = clock.now();
      const times = { createdAt: now, updatedAt: now, dueAt: now };
      const rows = mails.map(({ id, ...mail }) => ({ _id: id ?? newId(clock), ...mail, ...times, attempts: 0, owner: null }));
      try {
        await collection.insertMany(rows as object[], { ordered: false });
      } catch (error) {
        if (!isOnlyDoubles(error)) throw error;
      }
    },

    /** Leases the mail that has been due longest, for `LEASE_MS`; undefined when none is due. */
    async claim(except: readonly string[]): Promise<QueuedMailRecord | undefined> {
      const { due, now } = await dueRows(storage);
      const filter = { ...due, ...(except.length > 0 && { _id: { $nin: except } }) };
      const lease = { owner, dueAt: new Date(now.getTime() + LEASE_MS), updatedAt: now };
      const claimed = await collection.findOneAndUpdate(
        filter as object,
        { $set: lease, $inc: { attempts: 1 } },
        { sort: { dueAt: 1, _id: 1 }, returnDocument: 'after' },
      );
      return (claimed as unknown as QueuedMailRecord | null) ?? undefined;
    },

    /** The approximate number of queued mails, and the creation time of the oldest. */
    async state(): Promise<QueueState> {
      const [length, oldest] = await Promise.all([
        collection.estimatedDocumentCount(),
        collection.findOne({}, { projection: { createdAt: 1 }, sort: { createdAt: 1 } }),
      ]);
      return { length, oldestAt: oldest?.createdAt };
    },

    async remove({ _id }: QueuedMailRecord): Promise<void> {
      await collection.deleteOne({ _id } as object);
    },

    /**
     * Releases a mail after a failure, with a growing delay.
     * @returns whether it will be retried; a mail that is too old, or would expire before, is removed
     */
    async postpone({ _id, attempts, createdAt, expiresAt }: QueuedMailRecord): Promise<boolean> {
      const now = clock.now();
      // every claim increments `attempts`, so a worker that has lost its lease does not match
      const own = { _id, attempts } as object;
      const dueAt = new Date(now.getTime() + (WAITS_MS[attempts - 1] ?? WAITS_MS[WAITS_MS.length - 1] ?? 0));
      const isTooLate = dueAt.getTime() > createdAt.getTime() + GIVE_UP_MS || (expiresAt !== null && dueAt >= expiresAt);
      if (isTooLate) await collection.deleteOne(own);
      else await collection.updateOne(own, { $set: { dueAt, owner: null, updatedAt: now } });
      return !isTooLate;
    },
  };
}
export type MailQueue = ReturnType<typeof createMailQueue>;
