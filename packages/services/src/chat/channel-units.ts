import { newId, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
import { defineDeletion, type Children } from '../shared/deletion.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import { chatErrors as errors } from './chat.errors.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';

interface NewChannel {
  _id: string;
  name: string;
  ownerId: string;
  open: boolean;
}
/** Channel and subscription as they are stored. */
interface Creation {
  channel: ChannelRecord;
  subscription: SubscriptionRecord;
  icon: GivenFile | null | undefined;
  /** Who uploaded the icon. */
  createdBy: string;
}

interface ChannelUnitsOptions {
  storage: Storage;
  /** Which of these identities exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** The subscriptions, which hide with their channel. Its messages need no mark: who may read them is a member, or finds its channel first. */
  members: Children;
  icons: Pick<Attachments, 'hold' | 'release' | 'settleHeld'>;
  /** Tells the readers of a channel that it is deleted. */
  tellDeleted(channelId: string): void;
}

/** Changes of a channel together with its members: units of work, which the next sweep completes or takes back after a crash. */
export function createChannelUnits({ storage, existingIdentities, members, icons, tellDeleted }: ChannelUnitsOptions) {
  const Channels = storage.model(channelModel);
  const Subscriptions = storage.model(subscriptionModel);
  const everyone = { deleted: 'include' } as const;
  const forReal = { ...everyone, hard: true } as const;

  const creations = storage.defineUnit<Creation>({
    name: 'channels.create',
    steps: [
      {
        // comes first: once there is a channel, people join and leave it, and its making has ended
        name: 'first member',
        async run({ channel, icon, createdBy }, fence) {
          await icons.hold(channel._id, icon, createdBy, fence);
          await fence.insert(Subscriptions.collection.collectionName, 'subscription');
          // asked afterwards: an identity that is deleted from now on finds its subscription
          if (!(await existingIdentities([channel.ownerId])).has(channel.ownerId)) throw identityErrors.notFound();
        },
        isDone: async ({ subscription: { _id } }) => (await Subscriptions.exists({ _id }).setOptions(everyone)) !== null,
        async undo({ channel, subscription: { _id } }) {
          await icons.release(channel._id);
          await Subscriptions.deleteOne({ _id }, forReal);
        },
      },
      {
        name: 'channel',
        run: (_, fence) => fence.insert(Channels.collection.collectionName, 'channel'),
        isDone: async ({ channel: { _id } }) => (await Channels.exists({ _id }).setOptions(everyone)) !== null,
        undo: ({ channel: { _id } }) => Channels.deleteOne({ _id }, forReal),
      },
    ],
  });

  const deletion = defineDeletion(storage, {
    name: 'channels',
    model: Channels,
    children: members,
    notFound: errors.channelNotFound,
    tell: tellDeleted,
  });

  return {
    /** Stores a channel with its icon, and its owner as the first member. @throws identityErrors.notFound; ATTACH_ERRORS */
    async create(given: NewChannel, { icon, createdBy }: Pick<Creation, 'icon' | 'createdBy'>): Promise<void> {
      const now = storage.clock.now();
      const times = { createdAt: now, updatedAt: now };
      const member = { _id: newId(storage.clock), channelId: given._id, subscribedId: given.ownerId };
      await creations.run({
        channel: { ...new Channels(given).toObject(), ...times },
        subscription: { ...new Subscriptions(member).toObject(), ...times },
        icon,
        createdBy,
      });
      if (icon) await icons.settleHeld(given._id);
    },

    /** Deletes softly, and hides the subscriptions. @throws errors.channelNotFound */
    delete: deletion.delete,

    /** @throws errors.channelNotFound when there is nothing to restore */
    async restore(channelId: string): Promise<void> {
      const found = await Channels.findById(channelId).setOptions({ deleted: 'only' }).lean<ChannelRecord>();
      if (!found) throw errors.channelNotFound();
      await deletion.restore(found);
    },
  };
}
