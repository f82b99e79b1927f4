import { defineModel, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { subscriptionResource } from './subscriptions.schemas.js';

/**
 * That an identity is a member of a channel, and how far it has read there: one record for each pair. Removed for real; `deletedAt` only hides
 * it while the channel or the identity is deleted, so that a live one is all that membership needs.
 */
export interface SubscriptionRecord extends Live {
  channelId: string;
  subscribedId: string;
  /** The deletions that hide it, of channel and identity: it lives while there is none. */
  hiddenBy: string[];
  /** The number of the last message that it has read, 0 before the first; it only grows. */
  readSeq: number;
  lastReadMessageId: string | null;
  /** When it read so far. */
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
