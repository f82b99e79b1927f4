import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createPairLookup } from '../shared/pairs.js';
import { subscriptionModel } from './subscription.model.js';

/** Who is in more channels than this waits its turn with the costly lists. */
const AT_ONCE_MAX = 500;

/** Finds those of some people with whom an identity shares a living channel. */
export function createFellowMembers({ storage, lists }: { storage: Storage; lists: Lists }) {
  const { collection } = storage.model(subscriptionModel);
  const lookUp = createPairLookup({ lists }, collection);
  return async function inChannels(identityId: string, ids: readonly string[], call: object): Promise<string[]> {
    const own = { subscribedId: identityId, deletedAt: null } as object;
    const shown = { _id: 0, channelId: 1 };
    const first = await collection.find(own, { projection: shown, limit: AT_ONCE_MAX + 1 }).toArray();
    const isMore = first.length > AT_ONCE_MAX;
    const places = isMore ? await lists.read({ collection }, [{ $match: own }, { $project: shown }], 'ids', call) : first;
    const channels = (places as unknown as { channelId: string }[]).map(({ channelId }) => channelId);
    return lookUp('subscribedId', { channelId: channels, subscribedId: ids }, call);
  };
}
