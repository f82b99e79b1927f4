import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { TRACE, insertBelow, newId, present, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { changeRecord } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import type { Bans, Pair } from './bans.js';
import { changedRecord, deletedRecord, type ChangeTeller } from './change-teller.js';
import { chatErrors as errors } from './chat.errors.js';
import type { Memberships } from './memberships.js';
import { moderationErrors } from './moderation.errors.js';
import type { Mutes } from './mutes.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';
import { subscriptionList, type NewSubscription, type Subscription, type SubscriptionPatch } from './subscriptions.schemas.js';

export type SubscriptionsService = ReturnType<typeof createSubscriptionsService>;

interface SubscriptionsOptions {
  storage: Storage;
  lists: Lists;
  teller: ChangeTeller;
  memberships: Pick<Memberships, 'forget'>;
  mutes: Mutes;
  bans: Bans;
  channelExists(channelId: string): Promise<boolean>;
  /** Whether nobody is added to a channel. */
  isDirect(channelId: string): Promise<boolean>;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
}

/** Notes in which version of a membership it is changed, within its write. */
const IN_VERSION = [{ $set: { changedIn: { $add: [`$${TRACE}.version`, 1] } } }];

/** The members of channels (decisions S4). */
export function createSubscriptionsService({ storage, lists, teller, memberships, mutes, bans, ...ends }: SubscriptionsOptions) {
  const Subscriptions = storage.model(subscriptionModel);
  const { channelExists, isDirect, existingIdentities } = ends;
  // a process may have died between a membership and its check
  storage.events.idsBeforeCleared(['subscription.created'], (ids) => storage.cascades.followParents(subscriptionModel, ids));

  /** Without a mute of an earlier membership. */
  function showBare(record: SubscriptionRecord): Subscription {
    const { hiddenBy, lastReadMessageId, readAt, changedIn, role = 'member', ...subscription } = present(record);
    return { ...subscription, role, mutedUntil: mutes.shown(record.mutedUntil) };
  }
  const whole = { show: showBare, complete: { mutedUntil: mutes.complete } };
  const showOne = lists.one(subscriptionList, showBare);
  lists.tell('subscription', subscriptionList, whole);

  /** @throws errors.subscriptionNotFound */
  async function show(record: SubscriptionRecord | null): Promise<Subscription> {
    const subscription = showOne(record, errors.subscriptionNotFound);
    await mutes.complete([subscription]);
    return subscription;
  }

  /** @throws errors.channelNotFound, identityErrors.notFound, moderationErrors.banned */
  async function expectBoth({ channelId, subscribedId }: NewSubscription): Promise<void> {
    const [hasChannel, identities] = await Promise.all([channelExists(channelId), existingIdentities([subscribedId])]);
    if (!hasChannel) throw errors.channelNotFound();
    if (!identities.has(subscribedId)) throw identityErrors.notFound();
    await bans.expectNotBanned({ channelId, identityId: subscribedId });
  }

  async function tellCreated(record: SubscriptionRecord): Promise<Subscription> {
    const { _id: id, channelId, subscribedId: identityId, role = 'member' } = record;
    await teller.tell(channelId, { id, version: 1 }, { kind: 'subscription', type: 'subscription.created', identityId, role });
    return show(record);
  }

  /** @returns whether there was one */
  async function remove(filter: { _id: string }, options: { deleted?: 'include' } = {}): Promise<boolean> {
    const removed = await Subscriptions.findOneAndDelete(filter, { hard: true, ...options }).lean<SubscriptionRecord>();
    if (!removed) return false;
    const { channelId, subscribedId: identityId, role = 'member', deletedAt } = removed;
    memberships.forget(channelId);
    // one that was hidden was no member
    const left = { kind: 'subscription', type: 'subscription.deleted', identityId, role } as const;
    if (deletedAt === null) await teller.tell(channelId, deletedRecord(removed), left);
    return true;
  }

  return {
    /**
     * Makes an identity a member. Channel, identity and bans are checked after the insert, because a later deletion or ban finds
     * the subscription. Who is banned before gets none for a moment.
     * @throws errors.channelNotFound, identityErrors.notFound, moderationErrors.banned, errors.alreadySubscribed, directMembers
     */
    async create(given: NewSubscription, _id = newId(storage.clock)): Promise<Subscription> {
      if (await isDirect(given.channelId)) throw errors.directMembers();
      await bans.expectNotBanned({ channelId: given.channelId, identityId: given.subscribedId });
      const record = await insertBelow(Subscriptions, { _id, ...given }, () => expectBoth(given));
      if (!record) throw errors.alreadySubscribed();
      return tellCreated(record);
    },

    made: madeIn(Subscriptions, async (record) => {
      // the earlier attempt may have died before its own check
      await expectBoth(record);
      return tellCreated(record);
    }),

    list(query: ListQuery): Promise<ListAnswer<Subscription>> {
      return lists.answer(subscriptionList, Subscriptions, whole, query);
    },

    /** @throws errors.subscriptionNotFound */
    async get(subscriptionId: string, query?: ReadQuery): Promise<Subscription> {
      return lists.find(subscriptionList, Subscriptions, { _id: subscriptionId }, whole, errors.subscriptionNotFound, query);
    },

    /** The channel and identity of a subscription; undefined when there is none. For access rules. */
    async endsOf(subscriptionId: string): Promise<NewSubscription | undefined> {
      const fields = { channelId: 1, subscribedId: 1 };
      return (await Subscriptions.findById(subscriptionId, fields).lean<SubscriptionRecord>()) ?? undefined;
    },

    /** The id of a membership, also of a hidden one. */
    async idOf({ channelId, identityId }: Pair): Promise<string | undefined> {
      const found = Subscriptions.findOne({ channelId, subscribedId: identityId }, { _id: 1 }).setOptions({ deleted: 'include' });
      return (await found.lean<SubscriptionRecord>())?._id;
    },

    /**
     * Changes the role of a member, or mutes it.
     * @throws moderationErrors.noSubscriptionUpdate for an empty change, errors.subscriptionNotFound
     */
    async patch(subscriptionId: string, { role, mutedUntil }: SubscriptionPatch): Promise<Subscription> {
      const muted = mutedUntil !== undefined && { mutedUntil: mutes.stored(mutedUntil) };
      const set = { ...(role !== undefined && { role }), ...muted };
      if (Object.keys(set).length === 0) throw moderationErrors.noSubscriptionUpdate();
      const record = await changeRecord(
        Subscriptions,
        { _id: subscriptionId },
        { ...set, updatedAt: storage.clock.now() },
        IN_VERSION,
      );
      if (!record) throw errors.subscriptionNotFound();
      const { channelId, subscribedId: identityId, role: now = 'member' } = record;
      if (muted) await mutes.keep(record);
      memberships.forget(channelId);
      const changed = { kind: 'subscription', type: 'subscription.updated', identityId, role: now } as const;
      await teller.tell(channelId, changedRecord(record), changed);
      return show(record);
    },

    /** Removes a membership. @throws errors.subscriptionNotFound */
    async delete(subscriptionId: string): Promise<void> {
      if (!(await remove({ _id: subscriptionId }))) throw errors.subscriptionNotFound();
    },

    /** Removes a membership that may be gone, or hidden. */
    remove: (subscriptionId: string) => remove({ _id: subscriptionId }, { deleted: 'include' }),
  };
}
