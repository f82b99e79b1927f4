import { createHash } from 'node:crypto';
import { defineModel, isDuplicateKey, newId, type BaseRecord, type Storage } from '@tandem/storage';

/** For how long a mail is recent, in milliseconds (decisions H9). */
const RECENT_MS = 60_000;

/** That a mail of a kind was asked for. `_id` is a hash: no address stands in it. */
interface RecentMailRecord extends BaseRecord {
  mailId: string;
  /** False until the mail is in the queue: the process of who asked may have died before. */
  isQueued: boolean;
  expiresAt: Date;
}

const recentMailModel = defineModel<RecentMailRecord>('recentMails', {
  softDelete: false,
  fields: {
    mailId: { type: String, required: true },
    isQueued: { type: Boolean, default: false },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});

/** Which mails were queued within the last minute. */
export function createRecentMails(storage: Storage) {
  const { collection } = storage.model(recentMailModel);

  /** The record of the last minute, or a new one; of many at once, over all instances, one makes it. */
  async function claim(_id: string): Promise<Pick<RecentMailRecord, 'mailId' | 'isQueued'>> {
    const now = storage.clock.now();
    const mailId = newId(storage.clock);
    const set = { mailId, isQueued: false, expiresAt: new Date(now.getTime() + RECENT_MS), updatedAt: now };
    try {
      await collection.updateOne({ _id, expiresAt: { $lte: now } } as object, { $set: set }, { upsert: true });
      return set;
    } catch (error) {
      // there is one that has not expired
      if (isDuplicateKey(error) === false) throw error;
      return ((await collection.findOne({ _id } as object)) as unknown as RecentMailRecord | null) ?? set;
    }
  }

  return {
    /**
     * Queues a mail unless one of the name was queued within the last minute. Where that is not certain it is queued once more, by the same
     * id.
     * @returns whether it was queued
     */
    async queueOnce(name: string, add: (mailId: string) => Promise<void>): Promise<boolean> {
      const _id = createHash('sha256').update(name).digest('base64url');
      const { mailId, isQueued } = await claim(_id);
      if (isQueued) return false;
      await add(mailId);
      await collection.updateOne({ _id, mailId } as object, { $set: { isQueued: true } });
      return true;
    },
  };
}
