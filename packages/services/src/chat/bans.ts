import type { Storage } from '@tandem/storage';
import { banModel, type BanRecord } from './ban.model.js';
import { moderationErrors as errors } from './moderation.errors.js';

/** A channel and somebody in it, or kept out of it. */
export interface Pair {
  channelId: string;
  identityId: string;
}

/** Looks up who is banned. */
export function createBans(storage: Storage) {
  const Bans = storage.model(banModel);

  /** Matches bans that have not ended. */
  const inForce = () => ({ $or: [{ until: null }, { until: { $gt: storage.clock.now() } }] });

  /** Whether an identity is banned from a channel now. */
  async function isBanned({ channelId, identityId }: Pair): Promise<boolean> {
    return (await Bans.exists({ channelId, identityId, ...inForce() })) !== null;
  }

  return {
    inForce,
    isBanned,

    /** @throws errors.banned */
    async expectNotBanned(pair: Pair): Promise<void> {
      if (await isBanned(pair)) throw errors.banned();
    },

    /** Those of some pairs who are banned now, with one query. */
    async bannedAmong(pairs: readonly Pair[]): Promise<Pair[]> {
      const of = {
        channelId: { $in: pairs.map(({ channelId }) => channelId) },
        identityId: { $in: pairs.map(({ identityId }) => identityId) },
      };
      const found = await Bans.find({ ...of, ...inForce() }, { channelId: 1, identityId: 1 }).lean<BanRecord[]>();
      return found.map(({ channelId, identityId }) => ({ channelId, identityId }));
    },
  };
}
export type Bans = ReturnType<typeof createBans>;
