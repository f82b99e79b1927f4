import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createPairLookup } from '../shared/pairs.js';
import { subscriptionModel } from './subscription.model.js';

/** Finds those of some people with whom an identity shares a living channel. */
export function createFellowMembers({ storage, lists }: { storage: Storage; lists: Lists }) {
  const { collection } = storage.model(subscriptionModel);
  const lookUp = createPairLookup({ lists }, collection);
  return async function inChannels(identityId: string, ids: readonly string[], call: object): Promise<string[]> {
    const own = { subscribedId: identityId, deletedAt: null } as object;
    const places = await collection.find(own, { projection: { _id: 0, channelId: 1 } }).toArray();
    const channels = (places as unknown as { channelId: string }[]).map(({ channelId }) => channelId);
    return lookUp('subscribedId', { channelId: channels, subscribedId: ids }, call);
  };
}
