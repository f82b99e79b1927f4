import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { insertBelow, newId, present, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { madeIn } from '../shared/made-records.js';
import { deletedRecord, type ChangeTeller } from './change-teller.js';
import { chatErrors as errors } from './chat.errors.js';
import type { Memberships } from './memberships.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';
import { subscriptionList, type NewSubscription, type Subscription } from './subscriptions.schemas.js';

export type SubscriptionsService = ReturnType<typeof createSubscriptionsService>;

interface SubscriptionsOptions {
  storage: Storage;
  lists: Lists;
  teller: ChangeTeller;
  memberships: Pick<Memberships, 'forget'>;
  channelExists(channelId: string): Promise<boolean>;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
}

function show(record: SubscriptionRecord): Subscription {
  const { hiddenBy, lastReadMessageId, readAt, ...subscription } = present(record);
  return subscription;
}

/** The members of channels (decisions S4). */
export function createSubscriptionsService({ storage, lists, teller, memberships, ...ends }: SubscriptionsOptions) {
  const Subscriptions = storage.model(subscriptionModel);
  const { channelExists, existingIdentities } = ends;
  lists.tell('subscription', subscriptionList, { show });

  /** @throws errors.channelNotFound, identityErrors.notFound */
  async function expectBoth({ channelId, subscribedId }: NewSubscription): Promise<void> {
    const [hasChannel, identities] = await Promise.all([channelExists(channelId), existingIdentities([subscribedId])]);
    if (!hasChannel) throw errors.channelNotFound();
    if (!identities.has(subscribedId)) throw identityErrors.notFound();
  }

  async function tellCreated(record: SubscriptionRecord): Promise<Subscription> {
    const { _id: id, channelId, subscribedId: identityId } = record;
    await teller.tell({ type: 'subscription.created', channelId, identityId }, { id, version: 1 });
    return show(record);
  }

  return {
    /**
     * Makes an identity a member. Channel and identity are checked after the insert, because a later deletion of either finds the
     * subscription.
     * @throws errors.channelNotFound, identityErrors.notFound, errors.alreadySubscribed
     */
    async create(given: NewSubscription, _id = newId(storage.clock)): Promise<Subscription> {
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
      return lists.answer(subscriptionList, Subscriptions, { show }, query);
    },

    /** @throws errors.subscriptionNotFound */
    async get(subscriptionId: string, query?: ReadQuery): Promise<Subscription> {
      return lists.find(subscriptionList, Subscriptions, { _id: subscriptionId }, { show }, errors.subscriptionNotFound, query);
    },

    /** The channel and identity of a subscription; undefined when there is none. For access rules. */
    async endsOf(subscriptionId: string): Promise<NewSubscription | undefined> {
      const fields = { channelId: 1, subscribedId: 1 };
      return (await Subscriptions.findById(subscriptionId, fields).lean<SubscriptionRecord>()) ?? undefined;
    },

    /** Removes a membership. @throws errors.subscriptionNotFound */
    async delete(subscriptionId: string): Promise<void> {
      const removed = await Subscriptions.findOneAndDelete({ _id: subscriptionId }, { hard: true }).lean<SubscriptionRecord>();
      if (!removed) throw errors.subscriptionNotFound();
      const { channelId, subscribedId: identityId } = removed;
      memberships.forget(channelId);
      await teller.tell({ type: 'subscription.deleted', channelId, identityId }, deletedRecord(removed));
    },
  };
}
