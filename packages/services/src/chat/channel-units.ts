import { defineDeletion, newId, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { Metadata } from '../shared/metadata.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import { chatErrors as errors } from './chat.errors.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';

interface NewChannel {
  _id: string;
  name: string;
  ownerId: string;
  open: boolean;
  direct?: true;
  pair?: string;
  metadata?: Metadata;
}
/** The records to store. */
interface Creation {
  channel: ChannelRecord;
  subscription: SubscriptionRecord;
  icon: GivenFile | null | undefined;
  /** The identity that uploaded the icon. */
  createdBy: string;
}

interface ChannelUnitsOptions {
  storage: Storage;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  icons: Pick<Attachments, 'hold' | 'release' | 'settleHeld'>;
  /** Numbers the owner's membership as the first change of the channel. */
  tellJoined(subscription: SubscriptionRecord): Promise<unknown>;
  /** Announces the deletion to the channel's readers. */
  tellDeleted(channelId: string): Promise<void>;
}

/**
 * Creates, deletes and restores a channel together with its members. These are units of work: after a crash the next sweep
 * completes or undoes them.
 */
export function createChannelUnits({ storage, existingIdentities, icons, tellJoined, tellDeleted }: ChannelUnitsOptions) {
  const Channels = storage.model(channelModel);
  const Subscriptions = storage.model(subscriptionModel);
  const everyone = { deleted: 'include' } as const;
  const forReal = { ...everyone, hard: true } as const;

  const creations = storage.defineUnit<Creation>({
    name: 'channels.create',
    steps: [
      {
        // comes first: once the channel exists, identities may join and leave, so the unit must be complete
        name: 'first member',
        async run({ channel, icon, createdBy }, fence) {
          await icons.hold(channel._id, icon, createdBy, fence);
          await fence.insert(Subscriptions.collection.collectionName, 'subscription');
          // checked after the insert: an identity deleted later finds this subscription
          if (!(await existingIdentities([channel.ownerId])).has(channel.ownerId)) throw identityErrors.notFound();
        },
        isDone: async ({ subscription: { _id } }) => (await Subscriptions.exists({ _id }).setOptions(everyone)) !== null,
        async undo({ channel, subscription: { _id } }) {
          await Subscriptions.deleteOne({ _id }, forReal);
          if (!(await Channels.exists({ _id: channel._id }).setOptions(everyone))) await icons.release(channel._id);
        },
      },
      {
        name: 'channel',
        run: (_, fence) => fence.insert(Channels.collection.collectionName, 'channel'),
        isDone: async ({ channel: { _id } }) => (await Channels.exists({ _id }).setOptions(everyone)) !== null,
        // a later attempt with the same key may have made another one under the same id
        undo: ({ channel: { _id, createdAt } }) => Channels.deleteOne({ _id, createdAt }, forReal),
      },
    ],
  });

  // messages need no mark: a reader must be a member or find the channel first
  const deletion = defineDeletion(storage, channelModel, { notFound: errors.channelNotFound, deleted: tellDeleted });

  return {
    /** Stores a channel with its icon and its owner as first member. @throws identityErrors.notFound; ATTACH_ERRORS */
    async create(given: NewChannel, { icon, createdBy }: Pick<Creation, 'icon' | 'createdBy'>): Promise<void> {
      const now = storage.clock.now();
      const times = { createdAt: now, updatedAt: now };
      const member = { _id: newId(storage.clock), channelId: given._id, subscribedId: given.ownerId };
      const creation = {
        channel: { ...new Channels(given).toObject(), ...times },
        subscription: { ...new Subscriptions(member).toObject(), ...times },
        icon,
        createdBy,
      };
      await creations.run(creation, given._id);
      await tellJoined(creation.subscription);
      if (icon) await icons.settleHeld(given._id);
    },

    /** Soft-deletes the channel and hides its subscriptions. @throws errors.channelNotFound */
    delete: (channelId: string): Promise<void> => deletion.delete([channelId]),

    /** @throws errors.channelNotFound when there is nothing to restore */
    restore: (channelId: string): Promise<void> => deletion.restore(channelId),
  };
}
