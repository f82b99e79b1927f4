import { validationError } from '@tandem/core';
import { insertBelow, isDuplicateKey, newId, textIn, type Storage } from '@tandem/storage';
import type { Bans } from './bans.js';
import type { ChangeTeller } from './change-teller.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import type { Channel } from './channels.schemas.js';
import type { ChannelsService } from './channels.service.js';
import { peopleErrors } from '../people/people.errors.js';
import { chatErrors as errors } from './chat.errors.js';
import { subscriptionModel } from './subscription.model.js';

/** Until one of the two gives it another; pages show the other person's. */
const NAME = 'Direct';

interface DirectChannelsOptions {
  storage: Storage;
  teller: ChangeTeller;
  channels: Pick<ChannelsService, 'createDirect' | 'exists' | 'restore' | 'shown'>;
  bans: Pick<Bans, 'expectNotBanned'>;
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
}

/** Channels of two (decisions C3). */
export function createDirectChannels({ storage, teller, channels, bans, existingIdentities }: DirectChannelsOptions) {
  const Channels = storage.model(channelModel);
  const Subscriptions = storage.model(subscriptionModel);

  async function idOf(pair: string): Promise<string | undefined> {
    const found = await Channels.findOne({ pair: textIn([pair]) }, { _id: 1 })
      .setOptions({ deleted: 'include' })
      .lean<ChannelRecord>();
    return found?._id;
  }

  /** What is known of people may be a second old. @throws peopleErrors.notFound */
  async function expectPerson(identityId: string): Promise<void> {
    if (!(await existingIdentities([identityId])).has(identityId)) throw peopleErrors.notFound();
  }

  /** The index lets one in of several at once. */
  async function begin(pair: string, ownerId: string): Promise<string> {
    const _id = newId(storage.clock);
    try {
      await channels.createDirect({ _id, name: NAME, ownerId, pair });
      return _id;
    } catch (error) {
      const other = isDuplicateKey(error) ? await idOf(pair) : undefined;
      if (other === undefined) throw error;
      return other;
    }
  }

  /** Makes somebody a member who is none. @throws errors.channelNotFound, moderationErrors.banned, peopleErrors.notFound */
  async function join(channelId: string, identityId: string): Promise<void> {
    const given = { channelId, subscribedId: identityId };
    if (await Subscriptions.exists(given)) return;
    await bans.expectNotBanned({ channelId, identityId });
    const record = await insertBelow(Subscriptions, { _id: newId(storage.clock), ...given }, async () => {
      if (!(await channels.exists(channelId))) throw errors.channelNotFound();
      await bans.expectNotBanned({ channelId, identityId });
      await expectPerson(identityId);
    });
    const role = 'member';
    const joined = { kind: 'subscription', type: 'subscription.created', identityId, role } as const;
    if (record) await teller.tell(channelId, { id: record._id, version: 1 }, joined);
  }

  return {
    /**
     * The one channel of two people, who both own it: made, restored, with either back who had left. Each step may run again, so
     * that another call completes what a dead process began. The caller has checked that the one may see the other.
     * @throws errors.channelNotFound when it is being deleted; moderationErrors.banned when either has banned the other, before
     * anything comes back; peopleErrors.notFound
     */
    async open(identityId: string, otherId: string): Promise<Channel> {
      const pair = [identityId, otherId].toSorted().join(' ');
      await expectPerson(otherId);
      const found = await idOf(pair);
      if (found !== undefined)
        for (const one of [identityId, otherId]) await bans.expectNotBanned({ channelId: found, identityId: one });
      const id = found ?? (await begin(pair, identityId));
      if (!(await channels.exists(id)))
        await channels.restore(id).catch(async (error: unknown) => {
          if (!(await channels.exists(id))) throw error;
        });
      for (const one of [identityId, otherId]) await join(id, one);
      const channel = (await channels.shown([id])).get(id);
      if (!channel) throw errors.channelNotFound();
      return channel;
    },
  };
}
export type DirectChannels = ReturnType<typeof createDirectChannels>;

/** @throws validationError for a direct channel with oneself */
export function refuseOneself(identityId: string, otherId: string): void {
  if (identityId === otherId) throw validationError(['request body/identityId must NOT be your own']);
}
