import { MAJORITY, type Storage } from '@tandem/storage';
import { createShortCopies } from '../shared/short-copies.js';
import { chatErrors as errors } from './chat.errors.js';
import type { MessageLog } from './message-log.js';
import { moderationErrors } from './moderation.errors.js';
import type { Mutes } from './mutes.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';
import type { ChannelRole } from './subscriptions.schemas.js';

/** A member's position in a channel: message numbers and the number of unread messages. */
export interface Standing {
  lastSeq: number;
  readSeq: number;
  unread: number;
}

export function standingOf(lastSeq: number, readSeq: number): Standing {
  return { lastSeq, readSeq, unread: Math.max(0, lastSeq - readSeq) };
}

/** Limits of one membership query: ids, and `$or` branches, each of which costs planning time. */
const IDS_MAX = 10_000;
const BRANCHES_MAX = 100;

/** Identity ids by channel id, or the reverse. */
type Pairs = ReadonlyMap<string, ReadonlySet<string>>;

function turned(pairs: Pairs): Pairs {
  const others = new Map<string, Set<string>>();
  for (const [id, otherIds] of pairs)
    for (const otherId of otherIds) others.set(otherId, (others.get(otherId) ?? new Set()).add(id));
  return others;
}

/**
 * Builds query conditions that cover each pair once: grouped by channel or by identity, whichever group is larger. So a channel
 * with thousands of readers, or an identity that reads thousands of channels, needs only one condition.
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

/** Splits conditions into groups of one query each. */
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

/** Looks up the members of channels (decisions S4). */
export function createMemberships(storage: Storage, log: MessageLog, mutes: Pick<Mutes, 'isMuted'>) {
  const { collection } = storage.model(subscriptionModel);
  /** Subscriptions by channel and identity, cached for a second, so that a busy sender costs one lookup a second. */
  const copies = createShortCopies<SubscriptionRecord>();
  /** The same for lookups of many, which do not fail for those who are no members. */
  const looked = createShortCopies<SubscriptionRecord>();

  /** The live subscription of an identity to a live channel. @throws errors.notSubscribed */
  async function subscriptionOf(identityId: string, channelId: string): Promise<SubscriptionRecord> {
    const found = await collection.findOne({ channelId, subscribedId: identityId, deletedAt: null } as object);
    if (!found) throw errors.notSubscribed();
    return found as unknown as SubscriptionRecord;
  }

  /** The same, by a copy of at most a second. */
  const copyOf = (identityId: string, channelId: string) =>
    copies.get(`${channelId} ${identityId}`, () => subscriptionOf(identityId, channelId));

  return {
    subscriptionOf,

    /** The role of a member of a live channel, as stored now; undefined for others. */
    async roleOf(identityId: string, channelId: string): Promise<ChannelRole | undefined> {
      const own = { channelId, subscribedId: identityId, deletedAt: null } as object;
      const found = await collection.findOne(own, { projection: { role: 1 } });
      return found ? ((found as unknown as SubscriptionRecord).role ?? 'member') : undefined;
    },

    /** The roles of those of some identities that are members of a channel, hidden ones too. For what readers are told. */
    async rolesOf(channelId: string, identityIds: readonly string[]): Promise<Map<string, ChannelRole>> {
      if (identityIds.length === 0) return new Map();
      const own = { channelId, subscribedId: { $in: identityIds } } as object;
      const found = await collection.find(own, { projection: { subscribedId: 1, role: 1 }, ...MAJORITY }).toArray();
      const records = found as unknown as SubscriptionRecord[];
      return new Map(records.map(({ subscribedId, role = 'member' }) => [subscribedId, role]));
    },

    /**
     * Checks whether an identity may write in a channel: posts, edits, attachments, reactions, typing; against copies of at most a
     * second. @throws errors.notSubscribed, moderationErrors.muted
     */
    async expectSpeaker(identityId: string, channelId: string): Promise<void> {
      if (await mutes.isMuted(copyOf(identityId, channelId), channelId, identityId)) throw moderationErrors.muted();
    },

    /** The live channels of an identity, as stored now: one that it has left is missing at once. */
    async channelsOf(identityId: string): Promise<string[]> {
      return (await collection.distinct('channelId', { subscribedId: identityId, deletedAt: null } as object)) as string[];
    },

    /** Checks membership, against a copy of at most a second. @throws errors.notSubscribed */
    async expectMember(identityId: string, channelId: string): Promise<void> {
      await copyOf(identityId, channelId);
    },

    /** Drops the copies of a channel whose members have changed, so that at least this instance knows at once. */
    forget(channelId: string): void {
      for (const each of [copies, looked]) each.dropWhere((key) => key.startsWith(`${channelId} `));
    },

    /**
     * Those of the given identities that are members, by channel.
     * @param readers identities by channel, without duplicates
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

    /** Those of the given channels whose member an identity is, by copies of at most a second. */
    async channelsAmong(identityId: string, channelIds: readonly string[]): Promise<string[]> {
      const keyOf = (channelId: string) => `${channelId} ${identityId}`;
      const found = await looked.many(channelIds.map(keyOf), async () => {
        const own = { channelId: { $in: channelIds }, subscribedId: identityId, deletedAt: null } as object;
        const records = (await collection.find(own).toArray()) as unknown as SubscriptionRecord[];
        return new Map(records.map((record) => [keyOf(record.channelId), record]));
      });
      return [...found.values()].map(({ channelId }) => channelId);
    },

    /** How far a member has read. @throws errors.notSubscribed, also when the channel does not exist */
    async membershipOf(identityId: string, channelId: string): Promise<Standing & { lastChange: number }> {
      const [{ readSeq }, { seq, change }] = await Promise.all([subscriptionOf(identityId, channelId), log.endOf(channelId)]);
      return { ...standingOf(seq, readSeq), lastChange: change };
    },
  };
}
export type Memberships = ReturnType<typeof createMemberships>;
