import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createPairLookup } from '../shared/pairs.js';
import { subscriptionModel, type SubscriptionRecord } from './subscription.model.js';

/** Who is in more channels than this waits its turn with the costly lists. */
const AT_ONCE_MAX = 500;

/** Up to as many subscriptions are read with one query, and compared here. */
const FEW = 200;

/** Finds those of some people with whom an identity shares a living channel. */
export function createFellowMembers({ storage, lists }: { storage: Storage; lists: Lists }) {
  const { collection } = storage.model(subscriptionModel);
  const lookUp = createPairLookup({ lists }, collection);
  return async function inChannels(identityId: string, ids: readonly string[], call: object): Promise<string[]> {
    const shown = { _id: 0, channelId: 1, subscribedId: 1 };
    const all = { subscribedId: { $in: [identityId, ...ids] }, deletedAt: null } as object;
    const few = (await collection.find(all, { projection: shown, limit: FEW + 1 }).toArray()) as unknown as SubscriptionRecord[];
    if (few.length <= FEW) {
      const joined = new Set(few.flatMap(({ subscribedId, channelId }) => (subscribedId === identityId ? [channelId] : [])));
      return few.flatMap(({ subscribedId, channelId }) => (joined.has(channelId) ? [subscribedId] : []));
    }
    const own = { subscribedId: identityId, deletedAt: null } as object;
    const first = await collection.find(own, { projection: shown, limit: AT_ONCE_MAX + 1 }).toArray();
    const isMore = first.length > AT_ONCE_MAX;
    const places = isMore ? await lists.read({ collection }, [{ $match: own }, { $project: shown }], 'ids', call) : first;
    const channels = (places as unknown as { channelId: string }[]).map(({ channelId }) => channelId);
    return lookUp('subscribedId', { channelId: channels, subscribedId: ids }, call);
  };
}
