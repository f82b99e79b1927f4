import { MAJORITY, type Storage, type ToldEvent } from '@tandem/storage';
import type { ChangeTeller, UnnumberedEvent } from './change-teller.js';
import type { ChannelsService } from './channels.service.js';
import type { LastingEvent } from './chat-events.js';
import type { Memberships } from './memberships.js';
import { isChange, type LogRecord, type MessageLog, type SubscriptionChange } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { MessagesService } from './messages.service.js';
import type { Pins } from './pins.js';
import type { ReactionRecord } from './reaction.model.js';
import type { ChannelRole } from './subscriptions.schemas.js';

/** A change of a channel, with what its readers are told: nothing where a later one stands for it. */
export interface ChannelChange {
  change: number;
  /** The number of the message that was posted. */
  seq?: number;
  event?: LastingEvent | undefined;
}

interface ChannelChangesOptions {
  storage: Storage;
  log: MessageLog;
  teller: ChangeTeller;
  channels: Pick<ChannelsService, 'shown'>;
  memberships: Pick<Memberships, 'membersAmong'>;
  messages: Pick<MessagesService, 'shown'>;
  pins: Pick<Pins, 'toldOf'>;
}

/** The events of the log that tell a change of a channel, posts excepted, which are numbered as they are stored. */
const NUMBERED_EVENTS = [
  'message.updated',
  'message.deleted',
  'message.restored',
  'channel.updated',
  'channel.deleted',
  'channel.restored',
  'subscription.created',
  'subscription.updated',
  'subscription.deleted',
  'reaction.created',
  'reaction.updated',
  'reaction.deleted',
];

/** Reads the changes of channels (decisions C1). */
export function createChannelChanges({ storage, log, teller, channels, memberships, messages, pins }: ChannelChangesOptions) {
  const Messages = storage.model(messageModel);
  const deletedToo = { deleted: 'include' } as const;

  /** Messages as they are now, deleted ones included. */
  async function messagesOf(ids: readonly string[]): Promise<MessageRecord[]> {
    if (ids.length === 0) return [];
    return Messages.find({ _id: { $in: ids } }, undefined, { ...deletedToo, ...MAJORITY }).lean<MessageRecord[]>();
  }

  /** What readers are told of some records of a channel's log: a message's or the channel's latest state, once. */
  async function shown(channelId: string, records: readonly LogRecord[]): Promise<ChannelChange[]> {
    const posts = new Map(records.filter((record) => !isChange(record)).map((record) => [record._id, record as MessageRecord]));
    const latest = new Map(records.filter(isChange).map(({ kind, recordId, change }) => [`${kind} ${recordId}`, change]));
    const changedIds = records.filter(isChange).flatMap(({ kind, recordId }) => (kind === 'message' ? recordId : []));
    for (const record of await messagesOf([...new Set(changedIds)])) posts.set(record._id, record);
    const live = await messages.shown([...posts.values()].filter(({ deletedAt }) => deletedAt === null));
    const pinned = await pins.toldOf(records);
    const isOfChannel = records.some((record) => isChange(record) && record.kind === 'channel');
    const channel = (await channels.shown(isOfChannel ? [channelId] : [])).get(channelId);

    function eventOf(record: LogRecord): LastingEvent | undefined {
      const { change = 0 } = record;
      if (!isChange(record)) {
        const message = live.get(record._id);
        return message && { type: 'message.created', channelId, change, message };
      }
      if (record.kind === 'subscription') {
        const { type, identityId, role = 'member' } = record;
        return { type, channelId, change, identityId, role };
      }
      if (record.kind === 'reaction') {
        const { type, messageId, key, identityId, count } = record;
        return { type, channelId, change, messageId, key, identityId, count };
      }
      if (latest.get(`${record.kind} ${record.recordId}`) !== change) return undefined;
      if (record.kind === 'channel') return channel ? { type: 'channel.updated', channelId, change, channel } : undefined;
      const pin = record.kind === 'pin' && pinned.get(record.recordId);
      if (pin) return { ...pin, change };
      const message = live.get(record.recordId);
      if (message) return { type: 'message.updated', channelId, change, message };
      const gone = posts.get(record.recordId);
      if (!gone || gone.deletedAt === null) return undefined;
      return { type: 'message.deleted', channelId, change, messageId: gone._id, seq: gone.seq };
    }
    return records.map((record) => {
      const { change = 0, seq } = record;
      return { change, ...(!isChange(record) && { seq }), event: eventOf(record) };
    });
  }

  const membershipIn = ({ state }: ToldEvent) => [String(state['channelId']), String(state['subscribedId'])] as const;

  /** Numbers changes that the log of events tells, as they stand now. */
  async function numberLate(events: readonly ToldEvent[]): Promise<void> {
    const ofKind = (kind: string) => events.filter(({ type }) => type.startsWith(`${kind}.`));
    const idsOf = (kind: string) => [...new Set(ofKind(kind).map(({ subject: { id } }) => id))];
    const readers = new Map<string, Set<string>>();
    for (const [channelId, identityId] of ofKind('subscription').map(membershipIn))
      readers.set(channelId, (readers.get(channelId) ?? new Set()).add(identityId));
    const found = await messagesOf(idsOf('message'));
    const [live, liveChannels, members] = await Promise.all([
      messages.shown(found.filter(({ deletedAt }) => deletedAt === null)),
      channels.shown(idsOf('channel')),
      memberships.membersAmong(readers),
    ]);
    const records = new Map(found.map((record) => [record._id, record]));

    function eventNow(event: ToldEvent): UnnumberedEvent | undefined {
      const { type, subject, state, version } = event;
      if (type.startsWith('channel.')) {
        const [channelId, channel] = [subject.id, liveChannels.get(subject.id)];
        return channel ? { type: 'channel.updated', channelId, channel } : { type: 'channel.deleted', channelId };
      }
      if (type.startsWith('message.')) {
        const [record, message] = [records.get(subject.id), live.get(subject.id)];
        if (!record) return undefined;
        const { _id: messageId, channelId, seq } = record;
        return message ? { type: 'message.updated', channelId, message } : { type: 'message.deleted', channelId, messageId, seq };
      }
      if (type.startsWith('reaction.')) {
        const { channelId, messageId, key, count, last } = state as unknown as ReactionRecord;
        return { ...last, channelId, messageId, key, count };
      }
      const [channelId, identityId] = membershipIn(event);
      const isMember = members.get(channelId)?.has(identityId) === true;
      // one that hides with its channel or identity is no departure
      const isHidden = Array.isArray(state['hiddenBy']) && state['hiddenBy'].length > 0;
      const isNoChange = type === 'subscription.updated' && state['changedIn'] !== version;
      if (isHidden || isNoChange || isMember !== (type !== 'subscription.deleted')) return undefined;
      const role = (state['role'] ?? 'member') as ChannelRole;
      return { type: type as SubscriptionChange, channelId, identityId, role };
    }
    const numbering = events.map(async (event) => {
      const now = eventNow(event);
      if (now) await teller.number(now, { id: event.subject.id, version: event.version });
    });
    await Promise.all(numbering);
  }

  // a process that has died, or a host, has written records and told nobody
  storage.events.beforeCleared(NUMBERED_EVENTS, async (events) => {
    const idOf = ({ subject: { id }, version }: ToldEvent) => `${id} ${version}`;
    const noted = await log.noted(events.map(idOf));
    const late = events.filter((event) => !noted.has(idOf(event)));
    if (late.length > 0) await numberLate(late);
  });

  return {
    /**
     * The changes after a number, upwards; `next` is the number to continue after, if there may be more. Read with majority
     * concern, because readers resume from what they were sent.
     */
    async since(
      channelId: string,
      change: number,
      limit: number,
    ): Promise<{ changes: ChannelChange[]; next: number | undefined }> {
      const records = await log.after(channelId, change, limit);
      const next = records.length < limit ? undefined : records.at(-1)?.change;
      return { changes: await shown(channelId, records), next };
    },
  };
}
export type ChannelChanges = ReturnType<typeof createChannelChanges>;
