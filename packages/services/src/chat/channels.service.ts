import { type ListAnswer, type ListQuery, type Lists, viewOf, type ReadQuery } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { UploadAddress, UploadRequest } from '../files/files.schemas.js';
import { viewerOf } from '../shared/actor.js';
import { changeRecord } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { noting } from '../shared/unit-notes.js';
import { channelModel, ownersOf, type ChannelRecord } from './channel.model.js';
import { createChannelUnits } from './channel-units.js';
import { channelList, type ListedChannel, type ReadChannel } from './channel-list.js';
import { channelKind, type Channel, type ChannelPatch, type NewChannel } from './channels.schemas.js';
import { changedRecord, type ChangeTeller } from './change-teller.js';
import { chatErrors as errors } from './chat.errors.js';
import { standingOf, type Memberships } from './memberships.js';
import type { MessagesService } from './messages.service.js';
import { subscriptionModel } from './subscription.model.js';

export type ChannelsService = ReturnType<typeof createChannelsService>;

interface ChannelsOptions {
  storage: Storage;
  lists: Lists;
  teller: ChangeTeller;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** A channel has one icon at most. */
  icons: Attachments;
  memberships: Pick<Memberships, 'forget' | 'channelsAmong'>;
  messages: Pick<MessagesService, 'lastOf' | 'lastChangesOf'>;
}

/** A channel without its icon, which is stored apart. Fills in fields that a host may have left out. */
function showBare(record: ChannelRecord): Channel {
  const { open = false, direct = false, pair, metadata = {}, ...channel } = present(record);
  return { ...channel, open, direct, metadata, icon: null };
}

/** Channels. Ids are UUID strings; nothing here depends on HTTP. */
export function createChannelsService({ storage, lists, teller, icons, memberships, messages, ...others }: ChannelsOptions) {
  const Channels = storage.model(channelModel);
  const Subscriptions = storage.model(subscriptionModel);
  const units = createChannelUnits({
    storage,
    ...others,
    icons,
    tellJoined: ({ _id: id, channelId, subscribedId: identityId }) =>
      teller.tell(
        channelId,
        { id, version: 1 },
        { kind: 'subscription', type: 'subscription.created', identityId, role: 'member' },
      ),
    async tellDeleted(channelId) {
      memberships.forget(channelId);
      const record = await Channels.findById(channelId).setOptions({ deleted: 'include' }).lean<ChannelRecord>();
      if (record) await teller.tell(channelId, changedRecord(record), { kind: 'channel' });
    },
  });

  /** Adds the icons with one query. */
  async function addIcons(channels: readonly Channel[]): Promise<void> {
    const found = await icons.oneOf(channels.map(({ id }) => id));
    for (const channel of channels) channel.icon = found.get(channel.id) ?? null;
  }

  const replaceIcon = icons.replacing(Channels);
  const showOne = lists.one(channelList, showBare);
  lists.tell('channel', channelList, { show: showBare, complete: { icon: addIcons } });

  /** @throws errors.channelNotFound */
  async function show(record: ChannelRecord | null): Promise<Channel> {
    const channel = showOne(record, errors.channelNotFound);
    await addIcons([channel]);
    return channel;
  }

  /** @throws errors.channelNotFound */
  async function tellUpdated(record: ChannelRecord | null): Promise<Channel> {
    const channel = await show(record);
    await teller.tell(channel.id, changedRecord(record as ChannelRecord), { kind: 'channel' });
    return channel;
  }

  async function addLastChanges(channels: ListedChannel[]): Promise<void> {
    const lasts = await messages.lastChangesOf(channels.map(({ id }) => id));
    for (const channel of channels) channel.lastChange = lasts.get(channel.id) ?? 0;
  }
  const whole = {
    show: (record: ChannelRecord): ListedChannel => ({ ...showBare(record), lastChange: 0 }),
    complete: { icon: addIcons, lastChange: addLastChanges },
  };

  /** @throws errors.channelNotFound */
  async function read(channelId: string, query?: ReadQuery): Promise<ReadChannel> {
    const channel = await lists.find(channelList, Channels, { _id: channelId }, whole, errors.channelNotFound, query);
    return channel as ReadChannel;
  }

  async function shown(ids: readonly string[]): Promise<Map<string, Channel | undefined>> {
    const records = await Channels.find({ _id: { $in: ids } }).lean<ChannelRecord[]>();
    const channels = new Map(records.map((record) => [record._id, lists.fit(channelList, record, showBare)]));
    const fitting = [...channels.values()].filter((channel) => channel !== undefined);
    if (fitting.length > 0) await addIcons(fitting);
    return channels;
  }

  /** The channels that the caller of a query may read, by id: see the rule `readsChannel`. */
  async function readable(ids: readonly string[], query: object): Promise<Map<string, Channel>> {
    const viewer = viewerOf(query);
    if (!viewer) return new Map();
    const { identityId, isAdmin } = viewer;
    const [records, found, joined] = await Promise.all([
      Channels.find({ _id: { $in: ids } }).lean<ChannelRecord[]>(),
      icons.oneOf(ids),
      isAdmin ? ids : memberships.channelsAmong(identityId, ids),
    ]);
    const own = records.filter((record) => ownersOf(record).includes(identityId) || joined.includes(record._id));
    const shown = own.flatMap((record) => lists.fit(channelList, record, showBare) ?? []);
    return new Map(shown.map((channel) => [channel.id, { ...channel, icon: found.get(channel.id) ?? null }]));
  }
  lists.relate(channelKind, { find: readable });

  /** The channels of a member: a view that joins each channel with the member's `readSeq`. */
  function listOfMember(memberId: string, query: ListQuery): Promise<ListAnswer<ListedChannel>> {
    const channel = { from: Channels.collection.collectionName, localField: 'channelId', foreignField: '_id', as: 'channel' };
    const memberships = viewOf(Subscriptions, [
      { $match: { subscribedId: memberId, deletedAt: null } },
      { $lookup: channel },
      { $unwind: '$channel' },
      { $replaceWith: { $mergeObjects: ['$channel', { readSeq: '$readSeq' }] } },
    ]);
    const showListed = ({ readSeq, ...record }: ChannelRecord & { readSeq: number }): ListedChannel => ({
      ...showBare(record),
      ...standingOf(0, readSeq),
      lastChange: 0,
      lastMessage: null,
    });
    async function addStandings(channels: ListedChannel[]): Promise<void> {
      const lasts = await messages.lastOf(
        channels.map(({ id }) => id),
        viewerOf(query)?.identityId,
      );
      for (const listed of channels) {
        const { lastSeq = 0, lastChange = 0, lastMessage = null } = lasts.get(listed.id) ?? {};
        Object.assign(listed, standingOf(lastSeq, listed.readSeq ?? 0), { lastChange, lastMessage });
      }
    }
    const complete = {
      icon: addIcons,
      lastSeq: addStandings,
      lastChange: addStandings,
      unread: addStandings,
      lastMessage: addStandings,
    };
    return lists.answer(channelList, memberships, { cursorScope: { memberId }, show: showListed, complete }, query);
  }

  return {
    /**
     * Creates a channel, whose owner becomes its first member.
     * @param createdBy the identity that uploaded the icon
     * @throws identityErrors.notFound when the owner does not exist; ATTACH_ERRORS
     */
    async create({ icon, open = false, ...given }: NewChannel, createdBy: string, id = newId(storage.clock)): Promise<Channel> {
      await units.create({ _id: id, open, ...given }, { icon, createdBy });
      return show(await Channels.findById(id).lean<ChannelRecord>());
    },

    /** Creates the direct channel of a pair. @throws a duplicate key error where it has one */
    createDirect: (channel: { _id: string; name: string; ownerId: string; pair: string }): Promise<void> =>
      units.create({ ...channel, open: false, direct: true }, { icon: undefined, createdBy: channel.ownerId }),

    made: madeIn(Channels, show),

    /** Issues an upload address for an icon. @throws errors.channelNotFound; fileErrors.tooManyUnused */
    async iconUploadUrl(channelId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      if (!(await this.exists(channelId))) throw errors.channelNotFound();
      return icons.issue(request, identityId);
    },

    get: read,

    /** The live channels by id, for readers of streams; undefined for one that does not fit its schema. */
    shown,

    /** Whether a live channel has this id. */
    async exists(channelId: string): Promise<boolean> {
      return (await Channels.exists({ _id: channelId })) !== null;
    },

    /** Who owns a live channel, whether it is open, and direct; undefined when there is none. For access rules. */
    async accessTo(channelId: string): Promise<{ ownerIds: string[]; open: boolean; direct: boolean } | undefined> {
      const found = await Channels.findById(channelId, { ownerId: 1, open: 1, direct: 1, pair: 1 }).lean<ChannelRecord>();
      return found ? { ownerIds: ownersOf(found), open: found.open ?? false, direct: found.direct ?? false } : undefined;
    },

    /** With `memberId` lists that member's channels and their unread counts. */
    list(memberId: string | undefined, query: ListQuery): Promise<ListAnswer<ListedChannel>> {
      if (memberId !== undefined) return listOfMember(memberId, query);
      return lists.answer(channelList, Channels, whole, query);
    },

    /**
     * @param changedBy the identity that uploaded the icon
     * @throws errors.noChannelUpdate for an empty change, channelNotFound; ATTACH_ERRORS
     */
    async patch(channelId: string, { icon, ...patch }: ChannelPatch, changedBy: string): Promise<Channel> {
      const set = givenOf(patch);
      if (Object.keys(set).length === 0 && icon === undefined) throw errors.noChannelUpdate();
      const changed = await replaceIcon(channelId, icon, changedBy, async (unit) => {
        const record = await changeRecord(
          Channels,
          { _id: channelId, ...unit?.open },
          { ...set, updatedAt: storage.clock.now() },
          unit ? [noting(unit.note)] : [],
        );
        if (!record) throw errors.channelNotFound();
        return record;
      });
      return tellUpdated(changed);
    },

    /** Soft-deletes a channel with its members and messages. @throws errors.channelNotFound */
    delete: units.delete,

    /**
     * Restores a channel with the members and messages deleted with it. @throws errors.channelNotFound when there is nothing to
     * restore
     */
    async restore(channelId: string): Promise<Channel> {
      await units.restore(channelId);
      return tellUpdated(await Channels.findById(channelId).lean<ChannelRecord>());
    },
  };
}
