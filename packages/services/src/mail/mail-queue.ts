import { createLeasedQueue, newId, type Storage } from '@tandem/storage';
import { insertNew } from '../shared/insert-new.js';
import { queuedMailModel, type QueuedMailRecord } from './mail.model.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WAITS_MS = [10_000, 30_000, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 4 * HOUR_MS, 12 * HOUR_MS] as const;
/** Age at which a mail is given up, in milliseconds. */
const GIVE_UP_MS = 48 * HOUR_MS;

export type NewMail = Pick<QueuedMailRecord, 'template' | 'to' | 'identityId' | 'values' | 'isUnique' | 'expiresAt'> & {
  id: string | undefined;
};

/** The mails waiting to be sent. */
export interface QueueState {
  length: number;
  oldestAt: Date | undefined;
}

/** The mail queue in the store. */
export function createMailQueue(storage: Storage) {
  const Mails = storage.model(queuedMailModel);
  const { collection } = Mails;
  const { clock } = storage;
  const queue = createLeasedQueue(storage, Mails, WAITS_MS);

  return {
    /** Adds mails by one write. Skips those whose id is queued already. */
    async add(mails: readonly NewMail[]): Promise<void> {
      const now = clock.now();
      const times = { createdAt: now, updatedAt: now, dueAt: now };
      const rows = mails.map(({ id, ...mail }) => ({ _id: id ?? newId(clock), ...mail, ...times, attempts: 0, owner: null }));
      await insertNew(Mails, rows);
    },

    /** Leases the mail that has been due longest; undefined when none is due. */
    claim: (except: readonly string[]) => queue.claim({}, except),

    /** The approximate number of queued mails, and the creation time of the oldest. */
    async state(): Promise<QueueState> {
      const [length, oldest] = await Promise.all([
        collection.estimatedDocumentCount(),
        collection.findOne({}, { projection: { createdAt: 1 }, sort: { createdAt: 1 } }),
      ]);
      return { length, oldestAt: oldest?.createdAt };
    },

    /** Removes a mail that was sent, even if another process has taken it over meanwhile. */
    async remove({ _id }: QueuedMailRecord): Promise<void> {
      await collection.deleteOne({ _id } as object);
    },

    /**
     * Releases a mail after a failure, with a growing delay.
     * @returns whether it will be retried; a mail that is too old, or would expire before, is removed
     */
    async postpone(mail: QueuedMailRecord): Promise<boolean> {
      const dueAt = queue.retryAt(mail);
      const { createdAt, expiresAt } = mail;
      const isTooLate = dueAt.getTime() > createdAt.getTime() + GIVE_UP_MS || (expiresAt !== null && dueAt >= expiresAt);
      if (isTooLate) await collection.deleteOne(queue.heldBy(mail));
      else await queue.postpone(mail);
      return !isTooLate;
    },
  };
}
export type MailQueue = ReturnType<typeof createMailQueue>;
