import { MAJORITY, type Storage } from '@tandem/storage';
import { NUMBERED } from './message-log.js';
import { messageModel } from './message.model.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';

/** A channel of a member: its last message, and how far the member has read. */
export interface Place {
  subscriptionId: string;
  lastSeq: number;
  readSeq: number;
}

/** Reads the channels of members with what is unread there (decisions C2). */
export function createPlaces(storage: Storage) {
  const Subscriptions = storage.model(subscriptionModel);
  const Messages = storage.model(messageModel);

  /** The last numbers of channels, by one seek in the index for each. Read with majority concern, as what readers are told. */
  async function lastSeqs(channelIds: readonly string[]): Promise<Map<string, number>> {
    const pipeline = [
      { $match: { channelId: { $in: channelIds }, ...NUMBERED } },
      { $sort: { channelId: -1, seq: -1 } },
      { $group: { _id: '$channelId', seq: { $first: '$seq' } } },
    ];
    const found = await Messages.collection.aggregate<{ _id: string; seq: number }>(pipeline, MAJORITY).toArray();
    return new Map(found.map(({ _id, seq }) => [_id, seq]));
  }

  /** @param among these channels only */
  return async function placesOf(memberId: string, among?: readonly string[]): Promise<Map<string, Place>> {
    const own = { subscribedId: memberId, deletedAt: null, ...(among && { channelId: { $in: among } }) } as object;
    const projection = { channelId: 1, readSeq: 1 };
    const found = await Subscriptions.collection.find(own, { projection, ...MAJORITY }).toArray();
    const joined = found as unknown as Pick<SubscriptionRecord, '_id' | 'channelId' | 'readSeq'>[];
    if (joined.length === 0) return new Map();
    const last = await lastSeqs(joined.map(({ channelId }) => channelId));
    return new Map(
      joined.map(({ _id, channelId, readSeq }) => [
        channelId,
        { subscriptionId: _id, lastSeq: last.get(channelId) ?? 0, readSeq },
      ]),
    );
  };
}
