import type { EventBus } from '@tandem/core';
import { MAJORITY, type Storage, type ToldEvent } from '@tandem/storage';
import { numbered, type ChangeTeller, type LateChange, type UnnumberedEvent } from './change-teller.js';
import type { ChannelsService } from './channels.service.js';
import { publishStored, type LastingEvent } from './chat-events.js';
import type { Memberships } from './memberships.js';
import { isChange, type ChangeRecord, type LogRecord, type MessageLog, type SubscriptionChange } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { MessagesService } from './messages.service.js';
import type { Pins } from './pins.js';
import type { ReactionRecord } from './reaction.model.js';
import type { ReactionsService } from './reactions.service.js';
import type { SubscriptionRecord } from './subscription.model.js';

/** A change of a channel, with what its readers are told: nothing where a later one stands for it. */
export interface ChannelChange {
  change: number;
  /** The number of the message that was posted. */
  seq?: number;
  event?: LastingEvent | undefined;
}

interface ChannelChangesOptions {
  storage: Storage;
  bus: EventBus;
  log: MessageLog;
  teller: ChangeTeller;
  channels: Pick<ChannelsService, 'shown'>;
  memberships: Pick<Memberships, 'rolesOf'>;
  messages: Pick<MessagesService, 'shown'>;
  pins: Pick<Pins, 'toldOf'>;
  reactions: Pick<ReactionsService, 'toldOf'>;
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

/** What a change is of: a later one of the same stands for it. */
function subjectOf(record: ChangeRecord): string {
  switch (record.kind) {
    case 'subscription':
      return `subscription ${record.identityId}`;
    case 'reaction':
      return `reaction ${record.messageId} ${record.key} ${record.identityId}`;
    default:
      return `${record.kind} ${record.recordId}`;
  }
}

/** The change that an event of the log tells; undefined if it is none for readers. */
function changeIn({ type, subject, version, state }: ToldEvent): LateChange | undefined {
  const record = { id: subject.id, version };
  const channelId = String(state['channelId']);
  if (type.startsWith('channel.')) {
    const own = { type: type === 'channel.deleted' ? ('missed' as const) : ('changed' as const), channelId: subject.id };
    return { channelId: subject.id, record, changed: { kind: 'channel' }, own };
  }
  if (type.startsWith('message.')) return { channelId, record, changed: { kind: 'message' } };
  if (type.startsWith('reaction.')) {
    const { messageId, key, last } = state as unknown as ReactionRecord;
    return { channelId, record, changed: { kind: 'reaction', messageId, key, ...last } };
  }
  const {
    subscribedId: identityId = '',
    role = 'member',
    hiddenBy = [],
    changedIn,
  } = state as unknown as Partial<SubscriptionRecord>;
  // one that hides with its channel or identity is no departure
  if (hiddenBy.length > 0 || (type === 'subscription.updated' && changedIn !== version)) return undefined;
  const changed = { kind: 'subscription', type: type as SubscriptionChange, identityId, role } as const;
  return { channelId, record, changed, own: { type: 'member', channelId, identityId } };
}

/** Reads the changes of channels (decisions C1). */
export function createChannelChanges(options: ChannelChangesOptions) {
  const { storage, bus, log, teller, channels, memberships, messages, pins, reactions } = options;
  const Messages = storage.model(messageModel);
  const deletedToo = { deleted: 'include' } as const;

  /** Messages as they are now, deleted ones included. */
  async function messagesOf(ids: readonly string[]): Promise<MessageRecord[]> {
    if (ids.length === 0) return [];
    return Messages.find({ _id: { $in: ids } }, undefined, { ...deletedToo, ...MAJORITY }).lean<MessageRecord[]>();
  }

  /** What readers are told of some records of a channel's log: how each thing is now, once. */
  async function shown(channelId: string, records: readonly LogRecord[]): Promise<ChannelChange[]> {
    const posts = new Map(records.filter((record) => !isChange(record)).map((record) => [record._id, record as MessageRecord]));
    const changes = records.filter(isChange);
    const latest = new Map(changes.map((record) => [subjectOf(record), record]));
    // of a message that has been purged, some records have its number
    const gone = new Map(changes.flatMap(({ recordId, goneSeq }) => (goneSeq === undefined ? [] : [[recordId, goneSeq]])));
    const changedIds = changes.flatMap(({ kind, recordId }) => (kind === 'message' ? recordId : []));
    const peopleIds = changes.flatMap((record) => (record.kind === 'subscription' ? record.identityId : []));
    for (const record of await messagesOf([...new Set(changedIds)])) posts.set(record._id, record);
    const [live, pinned, reacted, roles, liveChannels] = await Promise.all([
      messages.shown([...posts.values()].filter(({ deletedAt }) => deletedAt === null)),
      pins.toldOf(records),
      reactions.toldOf(records),
      memberships.rolesOf(channelId, peopleIds),
      channels.shown(changes.some(({ kind }) => kind === 'channel') ? [channelId] : []),
    ]);

    function eventOf(record: LogRecord): UnnumberedEvent | undefined {
      if (!isChange(record)) {
        const message = live.get(record._id);
        return message && { type: 'message.created', channelId, message };
      }
      if (latest.get(subjectOf(record)) !== record) return undefined;
      switch (record.kind) {
        case 'subscription': {
          const { identityId } = record;
          const role = roles.get(identityId);
          if (!role) return { type: 'subscription.deleted', channelId, identityId, role: record.role ?? 'member' };
          const type = record.type === 'subscription.updated' ? record.type : 'subscription.created';
          return { type, channelId, identityId, role };
        }
        case 'channel': {
          const channel = liveChannels.get(channelId);
          if (channel) return { type: 'channel.updated', channelId, channel };
          // one that is there and does not fit is left out (decisions H20)
          return liveChannels.has(channelId) ? undefined : { type: 'channel.deleted', channelId };
        }
        case 'reaction':
          return reacted.get(record);
        case 'pin':
          return pinned.get(record.recordId);
        case 'message': {
          const message = live.get(record.recordId);
          if (message) return { type: 'message.updated', channelId, message };
          const found = posts.get(record.recordId);
          const goneSeq = found ? found.deletedAt !== null && found.seq : gone.get(record.recordId);
          return typeof goneSeq === 'number'
            ? { type: 'message.deleted', channelId, messageId: record.recordId, seq: goneSeq }
            : undefined;
        }
        default:
          return undefined;
      }
    }
    return records.map((record) => {
      const { change = 0, seq } = record;
      const event = eventOf(record);
      return { change, ...(!isChange(record) && { seq }), event: event && numbered(event, change) };
    });
  }
  teller.readBy(shown);

  // a process that has died, or a host, has written records and told nobody
  storage.events.beforeCleared(NUMBERED_EVENTS, (events) => teller.numberLate(events.flatMap((event) => changeIn(event) ?? [])));
  storage.events.idsBeforeCleared(['message.created'], async (ids) => {
    for (const [channelId, { seq, change }] of await log.endsOfUnannounced(ids))
      publishStored(bus, channelId, change, [{ type: 'posted', channelId, seq }]);
  });

  return {
    /**
     * The changes after a number and up to another, upwards; `next` is the number to continue after, if there may be more. A change
     * beyond the limit stands for none within it. Read with majority concern, because readers resume from what they were sent.
     */
    async since(
      channelId: string,
      change: number,
      limit: number,
      upTo = Infinity,
    ): Promise<{ changes: ChannelChange[]; next: number | undefined }> {
      const found = await log.after(channelId, change, limit);
      const next = found.length < limit ? undefined : found.at(-1)?.change;
      const records = found.filter((record) => (record.change ?? 0) <= upTo);
      return { changes: await shown(channelId, records), next };
    },
  };
}
export type ChannelChanges = ReturnType<typeof createChannelChanges>;
