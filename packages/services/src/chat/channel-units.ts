import { newId, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { markOf, newDeletion, type Children, type Deletion } from '../shared/deletion.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import { chatErrors as errors } from './chat.errors.js';
import { subscriptionModel } from './subscription.model.js';

interface Creation {
  channel: { _id: string; name: string; ownerId: string; open: boolean };
  subscriptionId: string;
}
interface Taken {
  channelId: string;
  deletion: Deletion;
}

interface ChannelUnitsOptions {
  storage: Storage;
  /** Which of these identities exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** The subscriptions, which hide with their channel. Its messages need no mark: who may read them is a member, or finds its channel first. */
  members: Children;
}

/** Changes of a channel together with its members: units of work, which the next sweep completes or takes back after a crash. */
export function createChannelUnits({ storage, existingIdentities, members }: ChannelUnitsOptions) {
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

  const ownMark = ({ channelId, deletion }: Taken) => ({ _id: channelId, deletionId: deletion.id });
  async function mark(taken: Taken): Promise<void> {
    const { matchedCount } = await Channels.updateOne({ _id: taken.channelId }, { $set: markOf(taken.deletion) });
    if (matchedCount > 0) return;
    const done = await Channels.countDocuments(ownMark(taken)).setOptions({ deleted: 'include' });
    if (done === 0) throw errors.channelNotFound();
  }
  const unmark = (taken: Taken) =>
    Channels.updateOne(ownMark(taken), { $set: { deletedAt: null } }).setOptions({ deleted: 'only' });
  const take = ({ channelId, deletion }: Taken) => members.take(channelId, deletion);
  const bringBack = ({ channelId, deletion }: Taken) => members.bringBack(channelId, deletion.id);

  const deletions = storage.defineUnit<Taken>({
    name: 'channels.delete',
    recovery: 'finish',
    steps: [
      { name: 'channel', run: mark, undo: unmark },
      { name: 'members', run: take, undo: bringBack },
    ],
  });
  const restorations = storage.defineUnit<Taken>({
    name: 'channels.restore',
    recovery: 'finish',
    steps: [
      // only what this deletion has taken: one that lives again, or was deleted anew, is left as it is
      {
        name: 'channel',
        run: unmark,
        undo: (taken) => Channels.updateOne(ownMark(taken), { $set: markOf(taken.deletion) }),
      },
      { name: 'members', run: bringBack, undo: take },
    ],
  });

  return {
    /** Stores a channel with its owner as the first member. @throws identityErrors.notFound */
    create: (channel: Creation['channel']) => creations.run({ channel, subscriptionId: newId(storage.clock) }),

    /** Deletes softly, and hides the subscriptions. @throws errors.channelNotFound */
    delete: (channelId: string) => deletions.run({ channelId, deletion: newDeletion(storage.clock) }),

    /** @throws errors.channelNotFound when there is nothing to restore */
    async restore(channelId: string): Promise<void> {
      const found = await Channels.findById(channelId).setOptions({ deleted: 'only' }).lean<ChannelRecord>();
      if (!found?.deletedAt) throw errors.channelNotFound();
      const { deletedAt, deletionId } = found;
      if (deletionId) await restorations.run({ channelId, deletion: { id: deletionId, at: deletedAt } });
      else await Channels.restore(channelId);
    },
  };
}
