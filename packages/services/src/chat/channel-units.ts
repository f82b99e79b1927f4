import { newId, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { defineDeletion, type Children } from '../shared/deletion.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import { chatErrors as errors } from './chat.errors.js';
import { subscriptionModel } from './subscription.model.js';

interface Creation {
  channel: { _id: string; name: string; ownerId: string; open: boolean };
  subscriptionId: string;
}

interface ChannelUnitsOptions {
  storage: Storage;
  /** Which of these identities exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** The subscriptions, which hide with their channel. Its messages need no mark: who may read them is a member, or finds its channel first. */
  members: Children;
  /** Tells the readers of a channel that it is deleted. */
  tellDeleted(channelId: string): void;
}

/** Changes of a channel together with its members: units of work, which the next sweep completes or takes back after a crash. */
export function createChannelUnits({ storage, existingIdentities, members, tellDeleted }: ChannelUnitsOptions) {
  const Channels = storage.model(channelModel);
  const Subscriptions = storage.model(subscriptionModel);
  const forReal = { deleted: 'include', hard: true } as const;

  const creations = storage.defineUnit<Creation>({
    name: 'channels.create',
    // who asked has no answer, and asks again
    recovery: 'undo',
    steps: [
      {
        name: 'channel',
        run: ({ channel }) => Channels.create(channel),
        undo: ({ channel }) => Channels.deleteOne({ _id: channel._id }, forReal),
      },
      {
        name: 'first member',
        async run({ channel, subscriptionId }) {
          await Subscriptions.create({ _id: subscriptionId, channelId: channel._id, subscribedId: channel.ownerId });
          // asked afterwards: an identity that is deleted from now on finds its subscription
          if (!(await existingIdentities([channel.ownerId])).has(channel.ownerId)) throw identityErrors.notFound();
        },
        undo: ({ subscriptionId }) => Subscriptions.deleteOne({ _id: subscriptionId }, forReal),
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
    /** Stores a channel with its owner as the first member. @throws identityErrors.notFound */
    create: (channel: Creation['channel']) => creations.run({ channel, subscriptionId: newId(storage.clock) }),

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
