import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { standingFields } from './channels.schemas.js';

export const SubscriptionSchema = z
  .object({
    id: Id,
    channelId: Id,
    subscribedId: z.string(),
    readSeq: standingFields.readSeq,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof SubscriptionSchema>;

export const subscriptionResource = defineListResource({
  name: 'subscriptions',
  fields: {
    channelId: { type: 'string', sort: false },
    subscribedId: { type: 'string', sort: false },
    createdAt: 'date',
  },
  hidden: ['hiddenBy', 'lastReadMessageId', 'readAt'],
  defaultOrder: 'createdAt desc, id desc',
});
export const subscriptionList = defineList(subscriptionResource, {
  row: SubscriptionSchema,
  equal: { channelId: Id, subscribedId: Id },
});

export const subscriptionInput = z.strictObject({ subscriptionId: Id });
export const createSubscriptionInput = z.strictObject({ channelId: Id, subscribedId: Id });
export type NewSubscription = z.infer<typeof createSubscriptionInput>;
