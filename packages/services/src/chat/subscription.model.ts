import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import type { StoredFields } from '../shared/record.js';
import { subscriptionRecord, type ChannelRole } from './subscriptions.schemas.js';

/**
 * The membership of an identity in a channel, and how far it has read there; one record per pair. Leaving removes the record.
 * `deletedAt` only hides it while the channel or identity is deleted, so that finding a live subscription proves membership.
 */
export interface SubscriptionRecord extends Live, StoredFields<typeof subscriptionRecord> {
  /** Deletions of the channel or identity that hide the subscription. It is live while there are none. */
  hiddenBy: string[];
  /** Missing in one from before there were roles. */
  role?: ChannelRole;
  mutedUntil?: Date;
  /** The version in which somebody changed these. Others only hide or show it. */
  changedIn?: number;
  /** The number of the last message read, 0 before the first; it only grows. */
  readSeq: number;
  lastReadMessageId: string | null;
  /** When `readSeq` last moved. */
  readAt: Date | null;
}

export const subscriptionModel = defineModel<SubscriptionRecord>('subscriptions', {
  traced: {
    kind: 'subscription',
    untold: ['readSeq', 'lastReadMessageId', 'readAt'],
    removes: ['channelId', 'subscribedId'],
  },
  people: { subscribedId: { erased: 'keep', exported: ['channelId', 'role', 'mutedUntil', 'readSeq', 'createdAt'] } },
  fields: subscriptionRecord.stored,
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
    ...listIndexes(subscriptionRecord.resource, { by: ['channelId', 'subscribedId'] }),
  ],
});
