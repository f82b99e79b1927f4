import { describeError, type Log } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import type { MailsService } from '../mail/mails.service.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

/** Mails that stand in identities, where the changes they are about have put them, on their way to the queue (decisions A14). */
export function createIdentityOutbox(options: { storage: Storage; log: Log; mails: Pick<MailsService, 'enqueue'> }) {
  const { storage, log, mails } = options;
  const Identities = storage.model(identityModel);

  /** Puts an identity's mails into the queue. What fails here is done by `relayAll` later, and again is fine: mails have ids. */
  async function relay(identityId: string): Promise<void> {
    try {
      const record = await Identities.findById(identityId, { outbox: 1, outboxAt: 1 })
        .setOptions({ deleted: 'include' })
        .lean<Pick<IdentityRecord, 'outbox' | 'outboxAt'>>();
      if (!record?.outboxAt) return;
      await mails.enqueue(record.outbox);
      // one that has been added meanwhile stays for whoever added it
      const queued = record.outbox.map(({ id }) => id);
      const rest = { $filter: { input: '$outbox', cond: { $not: { $in: ['$$this.id', queued] } } } };
      const since = { $cond: [{ $eq: ['$outbox', []] }, null, '$outboxAt'] };
      await Identities.updateOne({ _id: identityId }, [{ $set: { outbox: rest } }, { $set: { outboxAt: since } }], {
        updatePipeline: true,
      }).setOptions({ deleted: 'include' });
    } catch (error) {
      log.warn({ err: describeError(error) }, 'mails about a change wait for the next pass');
    }
  }

  return {
    relay,

    /** Puts into the queue what processes that died have left of mails. */
    async relayAll(): Promise<void> {
      const left = Identities.find({ outboxAt: { $gt: new Date(0) } }, { _id: 1 }).setOptions({ deleted: 'include' });
      for (const { _id } of await left.lean<Pick<IdentityRecord, '_id'>[]>()) await relay(_id);
    },
  };
}
