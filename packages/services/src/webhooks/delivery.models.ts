import { listIndexes } from '@tandem/lists';
import { defineModel, queuedFields, type BaseRecord, type QueuedRecord } from '@tandem/storage';
import { deliveryRecord, type DeliveryStatus } from './deliveries.schemas.js';

/** An event on its way to a webhook, and what became of it. */
export interface DeliveryRecord extends BaseRecord {
  webhookId: string;
  eventId: string;
  eventType: string;
  /** What the event is about: such deliveries are sent one after another. */
  subjectId: string;
  status: DeliveryStatus;
  attempts: number;
  responseStatus: number | null;
  durationMs: number | null;
  error: string | null;
  lastAttemptAt: Date | null;
  /** Set while it is pending. */
  nextAttemptAt: Date | null;
  expiresAt: Date;
  /** It was given up, and is tried once more. */
  isLastTry?: boolean;
}
/** Matches the times of pending deliveries; queries need it for their index. */
export const PENDING = { $gt: new Date(0) } as const;

export const deliveryModel = defineModel<DeliveryRecord>('webhookDeliveries', {
  softDelete: false,
  people: { subjectId: { erased: 'keep', exported: false } },
  goesWith: [{ with: 'webhooks', by: 'webhookId' }],
  fields: deliveryRecord.stored,
  expires: 'expiresAt',
  indexes: [
    ...listIndexes(deliveryRecord.resource, { within: ['webhookId'] }),
    { keys: { webhookId: 1, eventId: 1 }, unique: true, serves: 'one delivery of an event to a webhook' },
    {
      keys: { webhookId: 1, nextAttemptAt: 1, _id: 1 },
      where: { nextAttemptAt: PENDING },
      serves: 'the next deliveries of a webhook',
    },
  ],
});

/** What is sent of an event, kept once for all webhooks. Removed after its deliveries. Its id is the event's. */
export interface MessageRecord extends BaseRecord {
  body: string;
  expiresAt: Date;
}
export const messageModel = defineModel<MessageRecord>('webhookMessages', {
  softDelete: false,
  // see `deliveries.ts`: made anew of the cleaned event
  people: { body: { erased: 'own', exported: false } },
  fields: { body: { type: String, required: true }, expiresAt: { type: Date, required: true } },
  expires: 'expiresAt',
  indexes: [],
});

/**
 * When a webhook has deliveries that are due. It is leased as a whole, so that a slow receiver delays no other. Its id is the
 * webhook's.
 */
export interface LineRecord extends QueuedRecord {
  /** Grows whenever something was added, so that whoever works on it notices. */
  wakes: number;
  /** The first failure since the last success. */
  failingSince?: Date | null;
  /** The address that failed: what it did counts for no other. */
  failingUrl?: string | null;
  /** Until when its receiver counts as slow, because it was or because it is new. */
  slowUntil?: Date | null;
}
export const lineModel = defineModel<LineRecord>('webhookLines', {
  softDelete: false,
  fields: {
    ...queuedFields,
    wakes: { type: Number, default: 0 },
    failingSince: { type: Date, default: null },
    failingUrl: { type: String, default: null },
    slowUntil: { type: Date, default: null },
  },
  indexes: [{ keys: { dueAt: 1, _id: 1 }, serves: 'the webhook that has been due longest' }],
});
