import { NOBODY, type Storage } from '@tandem/storage';
import type { ErasureStep } from '../personal-data/erasures.service.js';
import { channelModel, type ChannelRecord } from './channel.model.js';
import { messageModel } from './message.model.js';
import { muteModel } from './mutes.js';
import { reactionModel } from './reaction.model.js';
import { subscriptionModel } from './subscription.model.js';

/** How many members are asked whether one of them can own a channel. */
const HEIRS_MAX = 20;
/** What still is to be told keeps a former state. */
const SETTLED = { 'trace.since': { $exists: false } };

interface ChatErasureOptions {
  storage: Storage;
  /** Those of the given identities that live and are not about to be erased. */
  staying(identityIds: readonly string[]): Promise<Set<string>>;
}

/** What becomes of a person's reactions, channels and mutes (decisions F8). */
export function createChatErasure({ storage, staying }: ChatErasureOptions) {
  const Channels = storage.model(channelModel);
  const Messages = storage.model(messageModel);
  const Mutes = storage.model(muteModel);
  const Reactions = storage.model(reactionModel);
  const Subscriptions = storage.model(subscriptionModel);
  const idsOf = (batch: readonly { _id: string }[]) => batch.map(({ _id }) => _id);
  const among = (batch: readonly { _id: string }[]) => ({ _id: { $in: idsOf(batch) } }) as object;

  /** Takes the person's reactions back: their counts are of who is left. */
  const reactions: ErasureStep = async ({ id }, pace) => {
    let changed = 0;
    const found = { path: 'identityIds', filter: { identityIds: id } };
    for await (const batch of storage.people.found(reactionModel, found, pace)) {
      const now = storage.clock.now();
      const identityIds = { $filter: { input: '$identityIds', cond: { $ne: ['$$this', id] } } };
      const last = { $literal: { type: 'reaction.deleted', identityId: NOBODY } };
      const isLast = { $eq: [{ $size: '$identityIds' }, 0] };
      const deletedAt = { $cond: [isLast, { $ifNull: ['$deletedAt', now] }, '$deletedAt'] };
      const stages = [{ $set: { identityIds, updatedAt: now, last } }, { $set: { count: { $size: '$identityIds' }, deletedAt } }];
      await Reactions.collection.updateMany({ ...among(batch), ...SETTLED }, stages);
      changed += batch.length;
    }
    return changed;
  };

  /** The other of two owns their channel alone; else the moderator who has been a member longest, then the member. */
  async function heirsOf(channels: readonly ChannelRecord[], id: string): Promise<(channel: ChannelRecord) => string> {
    const deletions = channels.flatMap(({ deletionId }) => (deletionId ? [[deletionId]] : []));
    // members of a deleted channel come back with it
    const live = deletions.length > 0 ? { $or: [{ deletedAt: null }, { hiddenBy: { $in: deletions } }] } : { deletedAt: null };
    const joined = { channelId: { $in: idsOf(channels) }, ...live, subscribedId: { $ne: id } };
    const rows = await Subscriptions.collection
      .aggregate<{ _id: string; heirs: string[] }>([
        { $match: joined },
        { $sort: { role: -1, createdAt: 1 } },
        { $group: { _id: '$channelId', heirs: { $firstN: { input: '$subscribedId', n: HEIRS_MAX } } } },
      ])
      .toArray();
    const stay = await staying([...new Set(rows.flatMap(({ heirs }) => heirs))]);
    const heirs = new Map(rows.map((row) => [row._id, row.heirs.find((one) => stay.has(one))]));
    return ({ _id, pair }) => pair?.split(' ').find((one) => one !== id) ?? heirs.get(_id) ?? NOBODY;
  }

  const channels: ErasureStep = async ({ id }, pace) => {
    let changed = 0;
    const fields = { pair: 1, ownerId: 1, deletionId: 1 } as const;
    const ways = [
      { path: 'ownerId', filter: { ownerId: id } },
      { path: 'pair', filter: { pair: { $regex: id } } },
    ];
    for (const way of ways)
      for await (const batch of storage.people.found(channelModel, { ...way, fields }, pace)) {
        const found = batch as unknown as ChannelRecord[];
        const heirOf = await heirsOf(found, id);
        const writes = found.map((channel) => {
          const ownerId = channel.ownerId === id ? heirOf(channel) : channel.ownerId;
          const filter = { _id: channel._id, ...way.filter, ...SETTLED };
          return { updateOne: { filter, update: [{ $set: { ownerId: { $literal: ownerId }, pair: '$$REMOVE' } }] } };
        });
        await Channels.collection.bulkWrite(writes as never, { ordered: false });
        changed += batch.length;
      }
    return changed;
  };

  const mutes: ErasureStep = async ({ id }, pace) => {
    let changed = 0;
    for await (const batch of storage.people.found(muteModel, { path: '_id', filter: { _id: { $regex: ` ${id}$` } } }, pace)) {
      await Mutes.collection.deleteMany(among(batch));
      changed += batch.length;
    }
    return changed;
  };

  /** Who has last reacted, and what the changes of channels say, besides who has come and gone. */
  const changes: ErasureStep = async ({ id }, pace) => {
    const lasts = { path: 'last.identityId', filter: { 'last.identityId': id } };
    for await (const batch of storage.people.found(reactionModel, lasts, pace))
      await storage.people.write(reactionModel, among(batch), { 'last.identityId': NOBODY });
    const told = { path: 'identityId', filter: { identityId: id, kind: { $in: ['reaction', 'pin'] } } };
    for await (const batch of storage.people.found(messageModel, told, pace))
      await storage.people.write(messageModel, among(batch), { identityId: NOBODY });
    return 0;
  };

  keepNumbers();
  return { records: [reactions, channels, mutes], copies: [changes] };

  /**
   * A message that goes for good leaves its number to the change that tells of its deletion, for who returns later (decisions C1).
   * The last one of a channel stays until another follows, since numbers count from it.
   */
  function keepNumbers(): void {
    storage.people.before('messages', async (ids, isWhole) => {
      if (isWhole) return ids;
      const fields = { projection: { channelId: 1, seq: 1 } };
      const found = (await Messages.collection.find({ _id: { $in: [...ids] } } as object, fields).toArray()) as unknown as {
        _id: string;
        channelId: string;
        seq: number;
      }[];
      const ends = await Messages.collection
        .aggregate<{ _id: string; seq: number }>([
          { $match: { channelId: { $in: [...new Set(found.map(({ channelId }) => channelId))] }, seq: { $gt: 0 } } },
          // in this form the store reads one key of each channel
          { $sort: { channelId: -1, seq: -1 } },
          { $group: { _id: '$channelId', seq: { $first: '$seq' } } },
        ])
        .toArray();
      const last = new Map(ends.map(({ _id, seq }) => [_id, seq]));
      const going = found.filter(({ channelId, seq }) => seq !== last.get(channelId));
      const notes = going.map(({ _id, seq }) => ({
        // whatever version the deletion was: an erasure may have raised it since
        updateMany: { filter: { _id: { $gt: `${_id} `, $lt: `${_id}!` }, recordId: _id }, update: { $set: { goneSeq: seq } } },
      }));
      if (notes.length > 0) await storage.people.writeMany(messageModel, notes);
      return idsOf(going);
    });
  }
}
