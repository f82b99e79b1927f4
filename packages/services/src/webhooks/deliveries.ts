import type { ListAnswer, Lists, ListQuery } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import type { DomainEvent } from '../events/events.schemas.js';
import type { ErasureStep } from '../personal-data/erasures.service.js';
import { withoutPrivate } from '../shared/changes.js';
import { insertNew } from '../shared/insert-new.js';
import { PENDING, deliveryModel, messageModel, type DeliveryRecord } from './delivery.models.js';
import { deliveryList, type Delivery } from './deliveries.schemas.js';
import type { Lines } from './lines.js';
import type { Answer } from './requests.js';
import type { WebhookRecord } from './webhook.model.js';
import { webhookErrors as errors } from './webhooks.errors.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Until the next try after the first, second, … failure; then a delivery is given up (decisions E2). */
const WAITS_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS];
/** How long deliveries are kept, and messages, which go on being needed for the last of them. */
const KEPT_MS = 30 * DAY_MS;
const MESSAGES_KEPT_MS = KEPT_MS + 2 * DAY_MS;
/** When a line is due if the process dies while it adds to it, in milliseconds from then. */
const RESUMED_MS = MINUTE_MS;
/** The bodies of events that only webhooks get: they are in no log. */
const OF_WEBHOOKS = /^\{"id":"[^"]*","type":"webhook\.(?:test|disabled)"/;

type Target = Pick<WebhookRecord, '_id'>;

function bodyOf({ id, type, at, subject, organizationId, actor, data }: DomainEvent): string {
  return JSON.stringify({ id, type, at, subject, organizationId, actor, data });
}

function show(record: DeliveryRecord): Delivery {
  const { subjectId, expiresAt, isLastTry, ...shown } = present(record);
  return shown;
}

interface DeliveriesOptions {
  storage: Storage;
  lists: Lists;
  lines: Lines;
  /** Events, as the log shows them. */
  byIds(ids: readonly string[]): Promise<DomainEvent[]>;
}

/** What is sent to webhooks, and what became of it. */
export function createDeliveries({ storage, lists, lines, byIds }: DeliveriesOptions) {
  const Deliveries = storage.model(deliveryModel);
  const Messages = storage.model(messageModel);
  const { clock } = storage;
  const later = (milliseconds: number) => new Date(clock.now().getTime() + milliseconds);

  function rowOf({ _id: webhookId }: Target, { id: eventId, type: eventType, subject }: DomainEvent): DeliveryRecord {
    const now = clock.now();
    const unknown = { responseStatus: null, durationMs: null, error: null, lastAttemptAt: null };
    const times = { createdAt: now, updatedAt: now, nextAttemptAt: now, expiresAt: later(KEPT_MS) };
    const about = { webhookId, eventId, eventType, subjectId: subject.id };
    return { _id: newId(clock), ...about, status: 'pending', attempts: 0, ...unknown, ...times };
  }

  /** Queues events for webhooks. May be repeated. @returns the new deliveries, if there were none of these events before */
  async function add(pairs: readonly (readonly [DomainEvent, readonly Target[]])[]): Promise<DeliveryRecord[]> {
    const now = clock.now();
    const times = { createdAt: now, updatedAt: now, expiresAt: later(MESSAGES_KEPT_MS) };
    const wanted = pairs.filter(([, targets]) => targets.length > 0);
    await insertNew(
      Messages,
      wanted.map(([event]) => ({ _id: event.id, body: bodyOf(event), ...times })),
    );
    const rows = wanted.flatMap(([event, targets]) => targets.map((target) => rowOf(target, event)));
    await insertNew(Deliveries, rows);
    await lines.wake([...new Set(rows.map(({ webhookId }) => webhookId))], now);
    return rows;
  }

  return {
    add,

    /** Queues an event for one webhook. A process that dies meanwhile delays it by a minute at most. */
    async addOne(webhook: Target, event: DomainEvent): Promise<Delivery> {
      await lines.wake([webhook._id], later(RESUMED_MS));
      const [row] = await add([[event, [webhook]]]);
      return show(row as DeliveryRecord);
    },

    list(webhookId: string, query: ListQuery): Promise<ListAnswer<Delivery>> {
      return lists.answer(deliveryList, Deliveries, { scope: { webhookId }, show }, query);
    },

    /** Tries a delivery again at once, whatever became of it; one that was given up once only. @throws errors.deliveryNotFound */
    async again(webhookId: string, deliveryId: string): Promise<Delivery> {
      await lines.wake([webhookId], later(RESUMED_MS));
      const now = clock.now();
      // asked for twice, it is still the last try
      const isLastTry = { $or: [{ $eq: ['$status', 'failed'] }, { $eq: ['$isLastTry', true] }] };
      const stages = [{ $set: { status: 'pending', nextAttemptAt: now, isLastTry } }];
      const after = { returnDocument: 'after', updatePipeline: true } as const;
      const row = await Deliveries.findOneAndUpdate({ _id: deliveryId, webhookId }, stages, after).lean<DeliveryRecord>();
      if (!row) throw errors.deliveryNotFound();
      await lines.wake([webhookId], now);
      return show(row);
    },

    /** The deliveries of a webhook that are due longest. */
    due: (webhookId: string, now: Date, limit: number) =>
      Deliveries.find({ webhookId, nextAttemptAt: { ...PENDING, $lte: now } }, null, {
        sort: { nextAttemptAt: 1, _id: 1 },
        limit,
      }).lean<DeliveryRecord[]>(),

    /** When the next delivery of a webhook is due; null when none is pending. */
    async nextAt(webhookId: string): Promise<Date | null> {
      const first = { sort: { nextAttemptAt: 1, _id: 1 } } as const;
      const pending = { webhookId, nextAttemptAt: PENDING };
      const row = await Deliveries.findOne(pending, { nextAttemptAt: 1 }, first).lean<DeliveryRecord>();
      return row?.nextAttemptAt ?? null;
    },

    /** The bodies of deliveries by the ids of their events, as this webhook may see them: only admins see private metadata. */
    async bodiesOf(rows: readonly DeliveryRecord[], { organizationId }: Pick<WebhookRecord, 'organizationId'>) {
      const ids = rows.map(({ eventId }) => eventId);
      const found = await Messages.find({ _id: { $in: ids } }, { body: 1 }).lean<{ _id: string; body: string }[]>();
      const bodies = found.map(({ _id, body }) => {
        if (!organizationId || !body.includes('"privateMetadata"')) return [_id, body] as const;
        const event = JSON.parse(body) as { data: object };
        return [_id, JSON.stringify({ ...event, data: withoutPrivate(event.data) })] as const;
      });
      return new Map(bodies);
    },

    /**
     * Notes how a try ended, unless the delivery was tried elsewhere meanwhile. One that was asked for again meanwhile stays due.
     * @param now by the clock that says what is due
     * @param isLast whether it is not tried again
     */
    async note(row: DeliveryRecord, { status, durationMs, error }: Answer, now: Date, isLast: boolean): Promise<void> {
      const wait = isLast || row.isLastTry ? undefined : WAITS_MS[row.attempts];
      const outcome =
        error === null
          ? { status: 'delivered', nextAttemptAt: null, isLastTry: false }
          : wait === undefined
            ? { status: 'failed', nextAttemptAt: null }
            : { status: 'pending', nextAttemptAt: new Date(now.getTime() + wait) };
      const tried = { responseStatus: status, durationMs, error, lastAttemptAt: now, attempts: row.attempts + 1 };
      const { _id, attempts } = row;
      // null where it was given up
      const own = { _id, attempts, nextAttemptAt: { $in: [row.nextAttemptAt, null] } };
      const { matchedCount } = await Deliveries.updateOne(own, { $set: { ...outcome, ...tried } });
      if (matchedCount === 0) await Deliveries.updateOne({ _id, attempts }, { $set: tried });
    },

    /**
     * Makes anew what is sent of events that show a person, after the log has been cleaned. What the log has no more is removed: it
     * cannot be told which words in it are the person's. What webhooks are told of themselves never was there, and has none.
     */
    erase: (async ({ id, emails }, pace) => {
      const texts = [id, ...emails].map((text) => text.replaceAll(/[^\w@-]/g, '\\$&'));
      const asked = { path: 'body', filter: { body: { $regex: texts.join('|') } }, fields: { body: 1 } as const };
      let changed = 0;
      for await (const batch of storage.people.found(messageModel, asked, pace)) {
        const shown = new Map((await byIds(batch.map(({ _id }) => _id))).map((event) => [event.id, bodyOf(event)]));
        const operations = batch.flatMap(({ _id, body }): object[] => {
          const known = shown.get(_id);
          const stays = OF_WEBHOOKS.test(String(body)) && !emails.some((email) => String(body).includes(email));
          if (known === undefined) return stays ? [] : [{ deleteOne: { filter: { _id } } }];
          return known === body ? [] : [{ updateOne: { filter: { _id }, update: { $set: { body: known } } } }];
        });
        if (operations.length > 0) await storage.people.writeMany(messageModel, operations);
        changed += operations.length;
      }
      return changed;
    }) satisfies ErasureStep,

    /** Gives up everything that waits for a webhook which is disabled, or deleted by itself. */
    async giveUp(webhookId: string): Promise<void> {
      const $set = { status: 'failed', error: 'the webhook is disabled', nextAttemptAt: null } as const;
      await Deliveries.updateMany({ webhookId, nextAttemptAt: PENDING }, { $set });
    },
  };
}
export type Deliveries = ReturnType<typeof createDeliveries>;
