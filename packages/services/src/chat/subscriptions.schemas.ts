import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id } from '../shared/schemas.js';
import { channelKind, standingFields } from './channels.schemas.js';

export const subscriptionRecord = defineRecord('subscriptions', {
  fields: {
    channelId: field(Id, { shown: Id, list: { type: 'string', sort: false } }),
    subscribedId: field(Id.describe('The identity that joins the channel.'), { list: { type: 'string', sort: false } }),
    /** The number of the last message read, 0 before the first; it only grows. */
    readSeq: serverField(standingFields.readSeq, { stored: { type: Number, default: 0 } }),
  },
  // reading moves `updatedAt`, which therefore has no index
  listedTimes: { createdAt: 'date' },
  internal: {
    hiddenBy: { type: [String], default: [] },
    lastReadMessageId: { type: String, default: null },
    readAt: { type: Date, default: null },
  },
});
export const SubscriptionSchema = subscriptionRecord.schema.meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof SubscriptionSchema>;

export const subscriptionList = defineList(subscriptionRecord.resource, {
  row: SubscriptionSchema,
  relations: { subscriber: relatedOne(personKind, 'subscribedId'), channel: relatedOne(channelKind, 'channelId') },
  equal: { channelId: Id, subscribedId: Id },
});

export const subscriptionInput = z.strictObject({ subscriptionId: Id });
export const createSubscriptionInput = z.strictObject(subscriptionRecord.given);
export type NewSubscription = z.infer<typeof createSubscriptionInput>;
