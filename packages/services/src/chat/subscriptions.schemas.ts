import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { channelKind, standingFields } from './channels.schemas.js';

/** What a member may do besides: moderators keep order (decisions C4). */
export const ChannelRole = z.enum(['member', 'moderator']).describe('What it may do in the channel.');
export type ChannelRole = z.infer<typeof ChannelRole>;

export const subscriptionRecord = defineRecord('subscriptions', {
  fields: {
    channelId: field(Id, { shown: Id, list: { type: 'string', sort: false } }),
    subscribedId: field(Id.describe('The identity that joins the channel.'), { list: { type: 'string', sort: false } }),
    /** The number of the last message read, 0 before the first; it only grows. */
    readSeq: serverField(standingFields.readSeq, { stored: { type: Number, default: 0 } }),
    /** Missing in one from before there were roles, so that no list is asked of it. */
    role: serverField(ChannelRole, { stored: { type: String, default: 'member' } }),
    /** Missing where nobody has said anything since the identity joined: see `mutes.ts`. */
    mutedUntil: serverField(
      Timestamp.nullable().describe('Until when it may write nothing in the channel; null for not at all.'),
      {
        stored: { type: Date },
      },
    ),
  },
  // reading moves `updatedAt`, which therefore has no index
  listedTimes: { createdAt: 'date' },
  internal: {
    hiddenBy: { type: [String], default: [] },
    lastReadMessageId: { type: String, default: null },
    readAt: { type: Date, default: null },
    changedIn: { type: Number },
  },
});
export const SubscriptionSchema = subscriptionRecord.schema.meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof SubscriptionSchema>;

export const subscriptionList = defineList(subscriptionRecord.resource, {
  row: SubscriptionSchema,
  reads: { mutedUntil: ['channelId', 'subscribedId'] },
  relations: { subscriber: relatedOne(personKind, 'subscribedId'), channel: relatedOne(channelKind, 'channelId') },
  equal: { channelId: Id, subscribedId: Id },
});

export const subscriptionInput = z.strictObject({ subscriptionId: Id });
export const createSubscriptionInput = z.strictObject(subscriptionRecord.given);
export const subscriptionPatchInput = z.strictObject({
  subscriptionId: Id,
  role: ChannelRole.optional(),
  mutedUntil: Timestamp.nullable().describe('Until when it may write nothing in the channel; null ends it.').optional(),
});
export type SubscriptionPatch = Omit<z.infer<typeof subscriptionPatchInput>, 'subscriptionId'>;
export type NewSubscription = z.infer<typeof createSubscriptionInput>;
