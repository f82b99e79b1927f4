import { defineModel, isDuplicateKey, versionOf, type BaseRecord, type Storage, type ToldEvent } from '@tandem/storage';
import { createShortCopies } from '../shared/short-copies.js';
import type { SubscriptionRecord } from './subscription.model.js';
import type { Subscription } from './subscriptions.schemas.js';

/** Stands for a mute that was taken back: nothing that was kept counts any more. */
const NEVER = new Date(0);

/** Until when an identity is muted in a channel, for when it leaves and comes back. The id is of channel and identity. */
interface MuteRecord extends BaseRecord {
  until: Date;
  /** The membership in which it was given, that one's version, and when. */
  subscriptionId: string;
  version: number;
  givenAt: Date;
}

export const muteModel = defineModel<MuteRecord>('mutes', {
  fields: { until: Date, subscriptionId: String, version: Number, givenAt: Date },
  softDelete: false,
  // the id is of channel and identity: see `chat-erasure.ts`
  people: { _id: { erased: 'own', exported: false } },
  indexes: [],
});

/** What a membership says of a mute. One that says nothing has been muted by nobody since its identity joined. */
export type Muting = Pick<SubscriptionRecord, '_id' | 'channelId' | 'subscribedId' | 'mutedUntil' | 'updatedAt'>;

const keyOf = (channelId: string, identityId: string) => `${channelId} ${identityId}`;
const isDate = (value: unknown): value is Date => value instanceof Date;

/**
 * Mutes belong to channel and identity (decisions C4). What moderators say is written into the membership, by one write with its
 * version; from there it is kept in a record of its own, which counts for a later membership that says nothing.
 */
export function createMutes(storage: Storage) {
  const Mutes = storage.model(muteModel);
  const copies = createShortCopies<MuteRecord | null>();

  async function kept(channelId: string, identityId: string): Promise<Date | undefined> {
    const key = keyOf(channelId, identityId);
    return (await copies.get(key, async () => Mutes.findById(key).lean<MuteRecord>()))?.until;
  }

  /** Keeps what a version of a membership says, unless something newer is kept. Repeatable. */
  async function keep({ _id: subscriptionId, mutedUntil, ...membership }: Muting, version: number): Promise<void> {
    if (!isDate(mutedUntil)) return;
    const { channelId, subscribedId, updatedAt: givenAt } = membership;
    const _id = keyOf(channelId, subscribedId);
    const now = storage.clock.now();
    const given = { _id, until: mutedUntil, subscriptionId, version, givenAt, createdAt: now, updatedAt: now };
    const isSame = { $eq: ['$subscriptionId', { $literal: subscriptionId }] };
    // versions order what one membership says, whatever the clocks of instances
    const isNewer = { $cond: [isSame, { $lt: ['$version', version] }, { $lte: ['$givenAt', givenAt] }] };
    const isFirst = { $lte: ['$givenAt', null] };
    const stages = [{ $replaceWith: { $cond: [{ $or: [isFirst, isNewer] }, { $literal: given }, '$$ROOT'] } }];
    const write = () => Mutes.collection.updateOne({ _id } as object, stages, { upsert: true });
    await write().catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      return write();
    });
    copies.drop(_id);
  }

  // a process that has died may have written a membership alone
  storage.events.beforeCleared(['subscription.updated'], async (events: readonly ToldEvent[]) => {
    for (const { state, version } of events) await keep(state as unknown as Muting, version);
  });

  // by ranges of their ids
  storage.people.before('channels', async (ids) => {
    await Mutes.collection.deleteMany({ $or: ids.map((id) => ({ _id: { $gt: keyOf(id, ''), $lt: `${id}!` } })) } as object);
  });

  return {
    /** What a membership stores for `mutedUntil`; null takes the mute back. */
    stored: (until: string | null): Date => (until === null ? NEVER : new Date(until)),

    /** Keeps what a membership, just changed, says. */
    keep: (record: SubscriptionRecord) => keep(record, versionOf(record) ?? 0),

    /** Whether the identity of a membership may not speak now, by copies of at most a second. */
    async isMuted(membership: Promise<SubscriptionRecord>, channelId: string, identityId: string): Promise<boolean> {
      const [{ mutedUntil }, before] = await Promise.all([membership, kept(channelId, identityId)]);
      const until = mutedUntil ?? before;
      return isDate(until) && until > storage.clock.now();
    },

    /** What is stored of a mute in a membership, as `complete` expects it. */
    shown: (until: unknown): string | null => (isDate(until) ? until.toISOString() : null),

    /** Completes shown memberships, with one query. */
    async complete(memberships: readonly Subscription[]): Promise<void> {
      const silent = memberships.filter(({ mutedUntil }) => mutedUntil === null);
      const ids = silent.map(({ channelId, subscribedId }) => keyOf(channelId, subscribedId));
      const found = ids.length > 0 ? await Mutes.find({ _id: { $in: ids } }).lean<MuteRecord[]>() : [];
      const untils = new Map(found.map(({ _id, until }) => [_id, until.toISOString()]));
      for (const membership of memberships) {
        const { channelId, subscribedId } = membership;
        const until = membership.mutedUntil ?? untils.get(keyOf(channelId, subscribedId)) ?? null;
        membership.mutedUntil = until === NEVER.toISOString() ? null : until;
      }
    },
  };
}
export type Mutes = ReturnType<typeof createMutes>;
