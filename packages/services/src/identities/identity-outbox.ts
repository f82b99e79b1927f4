import { describeError, type Log } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import type { MailsService } from '../mail/mails.service.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

/** Age at which a mail is taken as left behind, in milliseconds: longer than a request that has just stored it takes to queue it. */
export const LEFT_MS = 30_000;

/** Moves mails into the queue from the identities in which changes have stored them (decisions A14). */
export function createIdentityOutbox(options: { storage: Storage; log: Log; mails: Pick<MailsService, 'enqueue'> }) {
  const { storage, log, mails } = options;
  const Identities = storage.model(identityModel);

  /** Queues an identity's mails. On failure `relayAll` repeats it later; mail ids prevent duplicates. */
  async function relay(identityId: string): Promise<void> {
    try {
      const record = await Identities.findById(identityId, { outbox: 1, outboxAt: 1 })
        .setOptions({ deleted: 'include' })
        .lean<Pick<IdentityRecord, 'outbox' | 'outboxAt'>>();
      if (!record?.outboxAt) return;
      await mails.enqueue(record.outbox.map((mail) => ({ ...mail, isUnique: true })));
      // a mail added since the read stays for the call that added it
      const queued = record.outbox.map(({ id }) => id);
      const rest = { $filter: { input: '$outbox', cond: { $not: { $in: ['$$this.id', queued] } } } };
      const since = { $cond: [{ $eq: ['$outbox', []] }, null, '$outboxAt'] };
      await Identities.updateOne({ _id: identityId }, [{ $set: { outbox: rest } }, { $set: { outboxAt: since } }], {
        updatePipeline: true,
        timestamps: false,
      }).setOptions({ deleted: 'include' });
    } catch (error) {
      log.warn({ err: describeError(error) }, 'mails about a change were not queued; the next pass retries');
    }
  }

  return {
    relay,

    /**
     * Queues the mails that dead processes left behind. Not newer ones: their own call may queue them first, and they would be sent
     * again after they have left the queue.
     */
    async relayAll(): Promise<void> {
      const stored = { $gt: new Date(0), $lte: new Date(storage.clock.now().getTime() - LEFT_MS) };
      const left = Identities.find({ outboxAt: stored }, { _id: 1 }).setOptions({ deleted: 'include' });
      for (const { _id } of await left.lean<Pick<IdentityRecord, '_id'>[]>()) await relay(_id);
    },
  };
}
