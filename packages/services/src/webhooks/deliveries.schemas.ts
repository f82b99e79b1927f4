import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { defineRecord, serverField } from '../shared/record.js';
import { Id, Timestamp } from '../shared/schemas.js';

const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const text = { type: String, required: true } as const;
const none = { default: null } as const;
const filtered = { type: 'string', sort: false } as const;

export const deliveryRecord = defineRecord('webhookDeliveries', {
  fields: {
    webhookId: serverField(z.string().describe('The webhook.'), { stored: text }),
    eventId: serverField(z.string().describe('The event; each try sends it as `webhook-id`.'), {
      stored: text,
      list: filtered,
    }),
    eventType: serverField(z.string().describe('Its type, such as `order.created`.'), { stored: text, list: filtered }),
    status: serverField(z.enum(DELIVERY_STATUSES).describe('`failed`: given up.'), { stored: text, list: filtered }),
    attempts: serverField(z.number().describe('The number of tries.'), { stored: { type: Number, default: 0 } }),
    responseStatus: serverField(z.number().nullable().describe('The status of the last answer.'), {
      stored: { type: Number, ...none },
    }),
    durationMs: serverField(z.number().nullable().describe('How long the last try took, in milliseconds.'), {
      stored: { type: Number, ...none },
    }),
    error: serverField(z.string().nullable().describe('What went wrong at the last try.'), { stored: { type: String, ...none } }),
    lastAttemptAt: serverField(Timestamp.nullable().describe('When it was last tried.'), { stored: { type: Date, ...none } }),
    nextAttemptAt: serverField(Timestamp.nullable().describe('When it is tried again.'), {
      stored: { type: Date, ...none },
    }),
  },
  internal: { subjectId: text, expiresAt: { type: Date, required: true }, isLastTry: { type: Boolean } },
});

export const DeliverySchema = deliveryRecord.schema.meta({ id: 'WebhookDelivery' });
export type Delivery = z.infer<typeof DeliverySchema>;

export const deliveryInput = z.strictObject({ webhookId: Id, deliveryId: Id });
export const deliveryList = defineList(deliveryRecord.resource, {
  row: DeliverySchema,
  own: { webhookId: Id },
  equal: { eventId: Id, eventType: z.string(), status: z.enum(DELIVERY_STATUSES) },
});
