import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { subscriptionResource } from './subscriptions.schemas.js';

/**
 * The membership of an identity in a channel, and how far it has read there; one record per pair. Leaving removes the record.
 * `deletedAt` only hides it while the channel or identity is deleted, so that finding a live subscription proves membership.
 */
export interface SubscriptionRecord extends Live {
  channelId: string;
  subscribedId: string;
  /** Deletions of the channel or identity that hide the subscription. It is live while there are none. */
  hiddenBy: string[];
  /** The number of the last message read, 0 before the first; it only grows. */
  readSeq: number;
  lastReadMessageId: string | null;
  /** When `readSeq` last moved. */
  readAt: Date | null;
}

export const subscriptionModel = defineModel<SubscriptionRecord>('subscriptions', {
  fields: {
    channelId: { type: String, required: true },
    subscribedId: { type: String, required: true },
    hiddenBy: { type: [String], default: [] },
    readSeq: { type: Number, default: 0 },
    lastReadMessageId: { type: String, default: null },
    readAt: { type: Date, default: null },
  },
  cascades: [
    { with: 'channels', by: 'channelId' },
    { with: 'identities', by: 'subscribedId' },
  ],
  indexes: [
    {
      keys: { channelId: 1, subscribedId: 1 },
      unique: true,
      deletedToo: true,
      serves: 'membership: one for each pair; what hides with a channel',
    },
    { keys: { subscribedId: 1 }, deletedToo: true, serves: 'what hides with an identity' },
    ...listIndexes(subscriptionResource, { by: ['channelId', 'subscribedId'] }),
  ],
});
