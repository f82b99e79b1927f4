import type { Storage } from '@tandem/storage';
import { createShortCopies } from '../shared/short-copies.js';
import { chatErrors as errors } from './chat.errors.js';
import type { MessageLog } from './message-log.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';

/** Where a member stands in a channel: numbers of messages, and how many it has not read. */
export interface Standing {
  lastSeq: number;
  readSeq: number;
  unread: number;
}

export function standingOf(lastSeq: number, readSeq: number): Standing {
  return { lastSeq, readSeq, unread: Math.max(0, lastSeq - readSeq) };
}

/** Who is a member of which channel (decisions S4). */
export function createMemberships(storage: Storage, log: MessageLog) {
  const { collection } = storage.model(subscriptionModel);
  /** Who is a member, by channel and identity: somebody who writes much is looked up once a second. */
  const copies = createShortCopies<SubscriptionRecord>();

  /** The live subscription of an identity to a live channel. @throws errors.notSubscribed */
  async function subscriptionOf(identityId: string, channelId: string): Promise<SubscriptionRecord> {
    const found = await collection.findOne({ channelId, subscribedId: identityId, deletedAt: null } as object);
    if (!found) throw errors.notSubscribed();
    return found as unknown as SubscriptionRecord;
  }

  return {
    subscriptionOf,

    /** Whether it was a member within the last second, or is now. @throws errors.notSubscribed */
    async expectMember(identityId: string, channelId: string): Promise<void> {
      await copies.get(`${channelId} ${identityId}`, () => subscriptionOf(identityId, channelId));
    },

    /** Members have gone from a channel: this instance at least knows at once. */
    forget: (channelId: string): void => copies.dropWhere((key) => key.startsWith(`${channelId} `)),

    /** Which of these identities are members, by channel. */
    async membersAmong(identityIds: ReadonlyMap<string, readonly string[]>): Promise<Map<string, Set<string>>> {
      const asked = [...identityIds].map(([channelId, ids]) => ({ channelId, subscribedId: { $in: ids }, deletedAt: null }));
      const members = new Map([...identityIds.keys()].map((channelId) => [channelId, new Set<string>()]));
      if (asked.length === 0) return members;
      const projection = { _id: 0, channelId: 1, subscribedId: 1 };
      const found = await collection.find({ $or: asked } as object, { projection }).toArray();
      for (const { channelId, subscribedId } of found as unknown as SubscriptionRecord[])
        members.get(channelId)?.add(subscribedId);
      return members;
    },

    /** How far a member has read. @throws errors.notSubscribed, also where there is no such channel */
    async membershipOf(identityId: string, channelId: string): Promise<Standing> {
      const [{ readSeq }, lastSeq] = await Promise.all([subscriptionOf(identityId, channelId), log.lastSeq(channelId)]);
      return standingOf(lastSeq, readSeq);
    },
  };
}
export type Memberships = ReturnType<typeof createMemberships>;
