import { createHash } from 'node:crypto';
import { defineModel, isDuplicateKey, newId, type BaseRecord, type Storage } from '@tandem/storage';

/** How long a mail counts as recent, in milliseconds (decisions H9). */
const RECENT_MS = 60_000;

/** A recent request for a mail. `_id` is a hash, so that no address is stored. */
interface RecentMailRecord extends BaseRecord {
  mailId: string;
  /** True once the mail is queued. If the process dies before that, the next request queues the same mail. */
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

/** Tracks mails queued within the last minute. */
export function createRecentMails(storage: Storage) {
  const { collection } = storage.model(recentMailModel);

  /** The record of the last minute, or a new one; of concurrent calls, on any instances, one creates it. */
  async function claim(_id: string): Promise<Pick<RecentMailRecord, 'mailId' | 'isQueued'>> {
    const now = storage.clock.now();
    const mailId = newId(storage.clock);
    const set = { mailId, isQueued: false, expiresAt: new Date(now.getTime() + RECENT_MS), updatedAt: now };
    try {
      await collection.updateOne({ _id, expiresAt: { $lte: now } } as object, { $set: set }, { upsert: true });
      return set;
    } catch (error) {
      // an unexpired record exists
      if (isDuplicateKey(error) === false) throw error;
      return ((await collection.findOne({ _id } as object)) as unknown as RecentMailRecord | null) ?? set;
    }
  }

  return {
    /**
     * Queues a mail unless one of this name was queued within the last minute. If that is uncertain, queues it again with the
     * same id.
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
