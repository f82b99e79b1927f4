import { validationError } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { insertBelow, newId, present, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import { createRetries } from '../shared/patching.js';
import { madeIn } from '../shared/made-records.js';
import { banModel, type BanRecord } from './ban.model.js';
import type { Bans, Pair } from './bans.js';
import { channelModel } from './channel.model.js';
import { banList, type Ban, type NewBan } from './bans.schemas.js';
import { chatErrors } from './chat.errors.js';
import { moderationErrors as errors } from './moderation.errors.js';
import type { SubscriptionsService } from './subscriptions.service.js';

export type BansService = ReturnType<typeof createBansService>;

interface BansOptions {
  storage: Storage;
  lists: Lists;
  bans: Bans;
  subscriptions: Pick<SubscriptionsService, 'idOf' | 'remove'>;
  channelExists(channelId: string): Promise<boolean>;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
}

const show = (record: BanRecord): Ban => present(record);

/** Who is kept out of channels (decisions C4). */
export function createBansService({ storage, lists, bans, subscriptions, channelExists, existingIdentities }: BansOptions) {
  const Bans = storage.model(banModel);
  const Channels = storage.model(channelModel);
  const untilDone = createRetries();
  lists.tell('ban', banList, { show });
  const showOne = lists.one(banList, show);

  /** @throws chatErrors.channelNotFound, identityErrors.notFound */
  async function expectBoth({ channelId, identityId }: Pair): Promise<void> {
    const [hasChannel, identities] = await Promise.all([channelExists(channelId), existingIdentities([identityId])]);
    if (!hasChannel) throw chatErrors.channelNotFound();
    if (!identities.has(identityId)) throw identityErrors.notFound();
  }

  /**
   * Removes the membership of somebody who is banned, also a hidden one. It is looked up before the ban, so that one which came
   * after the ban was lifted stays. Repeatable.
   */
  async function putOut(pair: Pair): Promise<void> {
    const subscriptionId = await subscriptions.idOf(pair);
    if (subscriptionId !== undefined && (await bans.isBanned(pair))) await subscriptions.remove(subscriptionId);
  }

  // a process may have died between ban and removal, or between a membership and its check
  storage.events.beforeCleared(['ban.created', 'ban.updated', 'subscription.created'], async (events) => {
    const pairs = events.map(({ state: { channelId, identityId, subscribedId } }) => ({
      channelId: String(channelId),
      identityId: String(identityId ?? subscribedId),
    }));
    for (const pair of await bans.bannedAmong(pairs)) await putOut(pair);
  });

  // else a ban would go with the channel, and the two could open another
  storage.people.keep('channels', async (ids) => {
    const direct = await Channels.find({ _id: { $in: ids }, pair: { $type: 'string' } }, { _id: 1 })
      .setOptions({ deleted: 'include' })
      .lean<{ _id: string }[]>();
    const found = await Bans.distinct('channelId', { channelId: { $in: direct.map(({ _id }) => _id) }, ...bans.inForce() });
    return new Set(found);
  });

  return {
    /**
     * Keeps an identity out of a channel, and removes its membership. Who is banned already stays so until the time that was
     * given last.
     * @throws chatErrors.channelNotFound, identityErrors.notFound; validationError for an end that has passed
     */
    async create({ channelId, identityId, until = null }: NewBan, bannedBy: string, _id = newId(storage.clock)): Promise<Ban> {
      const pair = { channelId, identityId };
      const given = { until: until === null ? null : new Date(until), bannedBy };
      if (given.until && given.until <= storage.clock.now()) throw validationError(['request body/until must be in the future']);
      const record = await untilDone(channelId, async () => {
        const made = await insertBelow(Bans, { _id, ...pair, ...given }, () => expectBoth(pair));
        if (made) return made;
        const changed = await Bans.findOneAndUpdate(pair, { $set: given }, { returnDocument: 'after' }).lean<BanRecord>();
        // else lifted meanwhile
        return changed ?? undefined;
      });
      await putOut(pair);
      return show(record);
    },

    made: madeIn(Bans, async (record) => {
      // the earlier attempt may have died before its own check
      await expectBoth(record);
      await putOut(record);
      return showOne(record, errors.banNotFound);
    }),

    /** The bans of a channel that have not ended. @throws chatErrors.channelNotFound */
    async list(channelId: string, query: ListQuery): Promise<ListAnswer<Ban>> {
      if (!(await channelExists(channelId))) throw chatErrors.channelNotFound();
      return lists.answer(banList, Bans, { scope: { channelId, ...bans.inForce() }, cursorScope: { channelId }, show }, query);
    },

    /** Lifts a ban. @throws errors.banNotFound */
    async delete({ channelId, identityId }: Pair): Promise<void> {
      const filter = { channelId, identityId, ...bans.inForce() };
      if (!(await Bans.findOneAndDelete(filter, { hard: true }).lean<BanRecord>())) throw errors.banNotFound();
    },
  };
}
