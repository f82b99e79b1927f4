import { randomUUID } from 'node:crypto';
import { isDuplicateKey, newId, type Storage } from '@tandem/storage';
import { dueRows } from '../shared/due.js';
import { queuedMailModel, type QueuedMailRecord } from './mail.model.js';

/** For how long nobody else tries a mail that is being tried, in milliseconds: longer than any try. */
export const LEASE_MS = 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Waits after the first, second, … and every further failure, in milliseconds. */
const WAITS_MS = [10_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;
/** After this time a mail is given up, in milliseconds. */
const GIVE_UP_MS = 48 * HOUR_MS;

export type NewMail = Pick<QueuedMailRecord, 'template' | 'to' | 'identityId' | 'values' | 'expiresAt'> & {
  id: string | undefined;
};

/** What waits to be sent. */
export interface QueueState {
  length: number;
  oldestAt: Date | undefined;
}

/** What an insertion failed by, if it was more than mails that are queued already. */
function isOnlyDoubles(error: unknown): boolean {
  const { writeErrors } = error as { writeErrors?: { code?: unknown }[] };
  return isDuplicateKey(error) !== false && (writeErrors ?? []).every(({ code }) => code === 11_000);
}

/** The queue in the store: each write to it is atomic, and a process that dies holds a mail for a minute at most. */
export function createMailQueue(storage: Storage) {
  const { collection } = storage.model(queuedMailModel);
  const { clock } = storage;
  const owner = randomUUID();

  return {
    /** One write. A mail whose id is queued already is left out. */
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

    /** Takes the mail that has been due for the longest time, for `LEASE_MS`; undefined when none is due. */
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

    /** How many mails are queued, about, and since when the oldest is. */
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
     * Puts a mail back after a failure, for a time that grows.
     * @returns whether it will be tried again; else it is too old, or would have expired by then, and is removed
     */
    async postpone({ _id, attempts, createdAt, expiresAt }: QueuedMailRecord): Promise<boolean> {
      const now = clock.now();
      // each claim counts one more try: whoever has lost the lease finds another number
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
