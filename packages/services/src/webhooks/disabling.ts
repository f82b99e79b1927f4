import { describeError, type Log } from '@tandem/core';
import { newId, type Storage } from '@tandem/storage';
import type { DomainEvent } from '../events/events.schemas.js';
import type { MailsService } from '../mail/mails.service.js';
import { webhookModel, type WebhookRecord } from './webhook.model.js';
import type { Webhook } from './webhooks.schemas.js';

/** How long the process that disabled a webhook has to tell of it before others do, in milliseconds. */
const GRACE_MS = 60_000;
/** Webhooks that one pass tells of. */
const BATCH = 50;

interface DisablingOptions {
  storage: Storage;
  log: Log;
  mails: Pick<MailsService, 'enqueue'>;
  show(record: WebhookRecord): Webhook;
  dispatch(events: readonly DomainEvent[]): Promise<void>;
}

/** Disables webhooks whose receiver is gone, and tells of it by an event and a mail (decisions E2). */
export function createDisabling({ storage, log, mails, show, dispatch }: DisablingOptions) {
  const Webhooks = storage.model(webhookModel);
  const { clock } = storage;

  async function tell(record: WebhookRecord): Promise<void> {
    const { _id: id, disablingId, disabledAt, createdBy, url } = record;
    if (!disablingId || !disabledAt) return;
    const event: DomainEvent = {
      id: disablingId,
      type: 'webhook.disabled',
      at: disabledAt.toISOString(),
      subject: { type: 'webhook', id },
      organizationId: record.organizationId ?? null,
      actor: { type: 'system', id: null },
      // path and query may hold a secret of this receiver, which others do not get
      data: { ...show(record), url: new URL(url).origin },
    };
    await dispatch([event]);
    const mail = { id: `webhook-disabled.${disablingId}`, isUnique: true, template: 'webhook-disabled' } as const;
    await mails.enqueue([{ ...mail, identityId: createdBy, values: { host: new URL(url).host, webhookId: id } }]);
    await Webhooks.collection.updateOne({ _id: id, disablingId } as object, { $set: { disablingId: null } });
  }

  return {
    /**
     * Disables a webhook, unless it is disabled, gone or has another address. What cannot be told now is told by a later pass.
     * @returns whether it did
     * @throws when the store cannot be reached
     */
    async disable({ _id: webhookId, url }: Pick<WebhookRecord, '_id' | 'url'>): Promise<boolean> {
      const $set = { disabledAt: clock.now(), disablingId: newId(clock) };
      const enabled = { _id: webhookId, url, disabledAt: null };
      const record = await Webhooks.findOneAndUpdate(enabled, { $set }, { returnDocument: 'after' }).lean<WebhookRecord>();
      if (!record) return false;
      log.info({ webhookId }, 'a webhook was disabled');
      await tell(record).catch((error: unknown) =>
        log.warn({ err: describeError(error), webhookId }, 'a disabled webhook was not told of yet'),
      );
      return true;
    },

    /** Tells of webhooks that a process disabled before it died. */
    async tellOfAll(): Promise<void> {
      const untold = { disablingId: { $type: 'string' }, disabledAt: { $lte: new Date(clock.now().getTime() - GRACE_MS) } };
      const records = await Webhooks.find(untold as object, null, { limit: BATCH }).lean<WebhookRecord[]>();
      for (const record of records) await tell(record);
    },
  };
}
