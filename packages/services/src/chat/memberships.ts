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

/** Pairs of channels and identities that are asked for by one query: ids, and branches, for each of which a planner takes its time. */
const IDS_MAX = 10_000;
const BRANCHES_MAX = 100;

/** Identities by channel, or channels by identity. */
type Pairs = ReadonlyMap<string, ReadonlySet<string>>;

function turned(pairs: Pairs): Pairs {
  const others = new Map<string, Set<string>>();
  for (const [id, otherIds] of pairs)
    for (const otherId of otherIds) others.set(otherId, (others.get(otherId) ?? new Set()).add(id));
  return others;
}

/**
 * Conditions for these pairs, each of which stands in one of them: beside others of its channel, or beside its identity's other channels,
 * whichever are more. So neither a channel of thousands nor somebody who reads thousands of channels takes more than one.
 */
function conditionsOf(readers: Pairs): { channelId: { $in: string[] }; subscribedId: { $in: string[] } }[] {
  const channels = turned(readers);
  const isByChannel = (channelId: string, identityId: string) =>
    (readers.get(channelId)?.size ?? 0) >= (channels.get(identityId)?.size ?? 0);
  const byChannel = [...readers].map(([channelId, ids]) => ({
    channelId: { $in: [channelId] },
    subscribedId: { $in: [...ids].filter((identityId) => isByChannel(channelId, identityId)) },
  }));
  const byIdentity = [...channels].map(([identityId, ids]) => ({
    channelId: { $in: [...ids].filter((channelId) => !isByChannel(channelId, identityId)) },
    subscribedId: { $in: [identityId] },
  }));
  return [...byChannel, ...byIdentity].filter(
    ({ channelId, subscribedId }) => channelId.$in.length * subscribedId.$in.length > 0,
  );
}

/** Conditions in groups, each for one query. */
function grouped(conditions: ReturnType<typeof conditionsOf>): (typeof conditions)[] {
  const groups: (typeof conditions)[] = [];
  let ids = Number.POSITIVE_INFINITY;
  for (const condition of conditions) {
    const more = condition.channelId.$in.length + condition.subscribedId.$in.length;
    if (ids + more > IDS_MAX || (groups.at(-1)?.length ?? 0) >= BRANCHES_MAX) {
      groups.push([]);
      ids = 0;
    }
    groups.at(-1)?.push(condition);
    ids += more;
  }
  return groups;
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

    /**
     * Those of these identities that are members, by channel.
     * @param readers identities by channel, each once
     */
    async membersAmong(readers: Pairs): Promise<Map<string, Set<string>>> {
      const members = new Map([...readers.keys()].map((channelId) => [channelId, new Set<string>()]));
      const projection = { _id: 0, channelId: 1, subscribedId: 1 };
      for (const conditions of grouped(conditionsOf(readers))) {
        const filter = { $or: conditions.map((condition) => ({ ...condition, deletedAt: null })) } as object;
        const found = (await collection.find(filter, { projection }).toArray()) as unknown as SubscriptionRecord[];
        for (const { channelId, subscribedId } of found) members.get(channelId)?.add(subscribedId);
      }
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
