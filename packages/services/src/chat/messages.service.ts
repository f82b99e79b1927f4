import { validationError, type EventBus } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { MAJORITY, newId, present, type Storage } from '@tandem/storage';
import { changeRecord } from '../shared/changes.js';
import type { HostGiven } from '../shared/host-fields.js';
import { viewerOf } from '../shared/actor.js';
import { givenOf } from '../shared/patching.js';
import type { Pair } from './bans.js';
import { channelModel } from './channel.model.js';
import { changedRecord, deletedRecord, type ChangeTeller } from './change-teller.js';
import { publishChatEvent, type SentMessage } from './chat-events.js';
import { chatErrors as errors } from './chat.errors.js';
import { expectLivingIn } from './living-messages.js';
import type { Mentions } from './mentions.js';
import type { Memberships } from './memberships.js';
import { keepingText } from './message-versions.js';
import { NUMBERED, type MessageLog } from './message-log.js';
import type { MessageFiles } from './message-files.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { Pins } from './pins.js';
import { createReactionLookup, sentToAll } from './reactions.service.js';
import type { Replies } from './replies.js';
import { messageList, replyList, type Message, type MessagePatch, type NewMessage } from './messages.schemas.js';

export type MessagesService = ReturnType<typeof createMessagesService>;

interface MessagesOptions {
  storage: Storage;
  lists: Lists;
  bus: EventBus;
  log: MessageLog;
  teller: ChangeTeller;
  memberships: Memberships;
  replies: Replies;
  pins: Pick<Pins, 'free'>;
  mentions: Mentions;
  messageFiles: Pick<MessageFiles, 'of' | 'attachAhead'>;
}

/** A message with the number of its post among the changes of the channel. */
export interface Post {
  change: number;
  message: SentMessage;
}

/** The last numbers of a channel, which deleted messages count for, and its last live message. */
export interface Last {
  lastSeq: number;
  lastChange: number;
  lastMessage: Message | null;
}

/** What the ends of a channel are read from. */
interface Ends {
  _id: string;
  numbers: { seq: number }[];
  changes: { change: number }[];
  live: MessageRecord[];
}
const LAST_CHANGE = [{ $match: { change: { $gt: 0 } } }, { $sort: { change: -1 } }, { $limit: 1 }, { $project: { change: 1 } }];

/** A message without its attachments and reactions, which are stored apart, and the count of its replies, if it may have any. */
function showBare(record: MessageRecord): Message {
  const { metadata = {}, replyToId = null, mentions = [], replies, textAt, change, ...message } = present(record);
  return { ...message, metadata, replyToId, mentions, replyCount: replies ? 1 : 0, attachments: [], reactions: [] };
}

/** The messages of channels. Ids are UUID strings; nothing here depends on HTTP. */
export function createMessagesService(options: MessagesOptions) {
  const { storage, lists, bus, log, teller, memberships, replies, pins, mentions, messageFiles } = options;
  const Messages = storage.model(messageModel);
  const Channels = storage.model(channelModel);
  const expectLiving = expectLivingIn(storage);

  /** Adds the attachments with one query. */
  async function addAttachments(messages: readonly Message[]): Promise<void> {
    const files = await messageFiles.of(messages.map(({ id }) => id));
    for (const message of messages) message.attachments = files.get(message.id) ?? [];
  }

  const addReactions = createReactionLookup(storage);
  /** How messages are shown to whom a query is, completed by one query each. */
  const sourceFor = (query: object = {}) => ({
    show: showBare,
    complete: {
      attachments: addAttachments,
      replyCount: replies.addCounts,
      reactions: (messages: readonly Message[]) => addReactions(messages, viewerOf(query)?.identityId),
    },
  });
  async function complete(messages: readonly Message[], viewerId?: string): Promise<void> {
    if (messages.length === 0) return;
    await Promise.all([addAttachments(messages), replies.addCounts(messages), addReactions(messages, viewerId)]);
  }

  const showOne = lists.one(messageList, showBare);
  lists.tell('message', messageList, sourceFor());
  const showFitting = (records: readonly MessageRecord[]) =>
    records.flatMap((record) => lists.fit(messageList, record, showBare) ?? []);

  /** @throws errors.messageNotFound */
  async function show(record: MessageRecord | null | undefined, viewerId?: string): Promise<Message> {
    const message = showOne(record, errors.messageNotFound);
    await complete([message], viewerId);
    return message;
  }

  /** @throws errors.messageNotFound */
  async function tellUpdated(record: MessageRecord | null | undefined, viewerId?: string): Promise<Message> {
    const message = await show(record, viewerId);
    await teller.tell(message.channelId, changedRecord(record as MessageRecord), { kind: 'message' });
    return message;
  }

  const whose = (messageId: string, options = {}) =>
    Messages.findById(messageId, { channelId: 1, senderId: 1 }, options).lean<MessageRecord>();

  return {
    /** How lists show messages to whom a query is. */
    sourceFor,

    /**
     * Stores a member's message and announces it to the channel's readers. A message with the same sender and `clientId` is
     * stored once: the stored one is returned and announced again, because the process that stored it may have died before
     * announcing it. So is one of the same id. The caller must check that the sender is not a guest.
     * @throws errors.notSubscribed, moderationErrors.muted; validationError for a mention of a stranger; messageNotFound when it replies to none of the
     * channel, or the stored message does not fit its schema; ATTACH_ERRORS
     */
    async post(
      { metadata = {}, hostFields, ...posted }: NewMessage & HostGiven,
      newOne = newId(storage.clock),
    ): Promise<Message> {
      const { channelId, senderId, content, title = null, clientId = null, replyToId } = posted;
      const { mentions: named = [], attachments: files = [] } = posted;
      await memberships.expectSpeaker(senderId, channelId);
      const isReply = typeof replyToId === 'string';
      const isDangling = isReply && !(await replies.mark(channelId, replyToId));
      const refusal = isDangling ? errors.messageNotFound() : await mentions.refusal(channelId, named);
      // one that was sent before is answered, whatever has been deleted since, and whoever has left
      const sent = { channelId, senderId, clientId };
      if (refusal && !(await log.has(newOne)) && !(await log.sent(sent))) throw refusal;
      const id = files.length > 0 ? await messageFiles.attachAhead(sent, files) : newOne;
      const now = storage.clock.now();
      // one without metadata costs the index of its keys nothing
      const extra = { ...(Object.keys(metadata).length > 0 && { metadata }), ...(hostFields && { hostFields }) };
      const given = {
        ...sent,
        content,
        title,
        ...(isReply && { replyToId }),
        ...(named.length > 0 && { mentions: named }),
        ...extra,
      };
      const record = await log.append({ _id: id, ...given, createdAt: now, updatedAt: now, deletedAt: null });
      // one that this call has not stored may have got replies and reactions since
      const isNew = record._id === newOne && record.createdAt === now;
      const message = isNew ? showOne(record, errors.messageNotFound) : await show(record, senderId);
      const { change = 0, deletedAt } = record;
      if (deletedAt === null) {
        publishChatEvent(bus, { type: 'message.created', channelId, change, message: sentToAll(message) });
        log.announced(record._id);
      }
      if (isReply && record._id === id) await replies.tellPosted(record);
      return message;
    },

    /** Live messages as readers of streams see them, by id, without those that do not fit (decisions H20). */
    async shown(records: readonly MessageRecord[]): Promise<Map<string, SentMessage>> {
      const messages = showFitting(records);
      await complete(messages);
      return new Map(messages.map((message) => [message.id, sentToAll(message)]));
    },

    /**
     * Reads messages for replay: those after a number, upwards. `next` is the number to continue after, if there may be more. A
     * missing number belongs to a message that is deleted or does not fit its schema (decisions H20); it will not appear later.
     * Reads with majority concern, because readers resume from what they were sent.
     */
    async since(channelId: string, seq: number, limit: number): Promise<{ posts: Post[]; next: number | undefined }> {
      const after = Messages.find({ channelId, seq: { $gt: seq } }, undefined, { sort: { seq: 1 }, limit, ...MAJORITY });
      const records = await after.lean<MessageRecord[]>();
      const messages = await this.shown(records);
      const posts = records.flatMap(({ _id, change = 0 }) => {
        const message = messages.get(_id);
        return message ? { change, message } : [];
      });
      return { posts, next: records.length < limit ? undefined : records.at(-1)?.seq };
    },

    /**
     * The ends of channels, with one query and others for attachments and reactions. Reads with majority concern, because readers
     * resume from these numbers. What is stored between two of its stages has a later change, and is counted.
     */
    async lastOf(channelIds: readonly string[], viewerId: string | undefined): Promise<Map<string, Last>> {
      const joined = { from: Messages.collection.collectionName, localField: '_id', foreignField: 'channelId' };
      const newest = [{ $match: NUMBERED }, { $sort: { seq: -1 } }, { $limit: 1 }];
      const pipeline = [
        { $match: { _id: { $in: channelIds } } },
        { $project: { _id: 1 } },
        { $lookup: { ...joined, as: 'changes', pipeline: LAST_CHANGE } },
        { $lookup: { ...joined, as: 'live', pipeline: [{ $match: { deletedAt: null } }, ...newest, { $unset: 'versions' }] } },
        { $lookup: { ...joined, as: 'numbers', pipeline: [...newest, { $project: { seq: 1 } }] } },
      ];
      const found = await Channels.collection.aggregate<Ends>(pipeline, MAJORITY).toArray();
      const lasts = found.map(({ _id, numbers, changes, live }) => {
        const [lastMessage = null] = showFitting(live);
        return [_id, { lastSeq: numbers[0]?.seq ?? 0, lastChange: changes[0]?.change ?? 0, lastMessage }] as const;
      });
      await complete(
        lasts.flatMap(([, { lastMessage }]) => lastMessage ?? []),
        viewerId,
      );
      return new Map(lasts);
    },

    /** The last changes of channels, with one query. */
    async lastChangesOf(channelIds: readonly string[]): Promise<Map<string, number>> {
      const changes = { from: Messages.collection.collectionName, localField: '_id', foreignField: 'channelId', as: 'changes' };
      const pipeline = [
        { $match: { _id: { $in: channelIds } } },
        { $project: { _id: 1 } },
        { $lookup: { ...changes, pipeline: LAST_CHANGE } },
      ];
      const found = await Channels.collection.aggregate<Pick<Ends, '_id' | 'changes'>>(pipeline, MAJORITY).toArray();
      return new Map(found.map(({ _id, changes: [last] }) => [_id, last?.change ?? 0]));
    },

    list(channelId: string, query: ListQuery): Promise<ListAnswer<Message>> {
      return lists.answer(messageList, Messages, { scope: { channelId }, ...sourceFor(query) }, query);
    },

    /** @throws errors.messageNotFound */
    async listReplies(messageId: string, query: ListQuery): Promise<ListAnswer<Message>> {
      if (!(await Messages.exists({ _id: messageId }))) throw errors.messageNotFound();
      return lists.answer(replyList, Messages, { scope: { replyToId: messageId }, ...sourceFor(query) }, query);
    },

    /** Searches the channels of a member. @throws validationError for `$apply` */
    async search(memberId: string, query: ListQuery): Promise<ListAnswer<Message>> {
      if (query.$apply !== undefined) throw validationError(["query parameter '$apply' cannot be used without 'channelId'"]);
      const scope = { channelId: { $in: await memberships.channelsOf(memberId) } };
      return lists.answer(messageList, Messages, { scope, cursorScope: { memberId }, ...sourceFor(query) }, query);
    },

    /** `channelOf`, `senderOf` and `personOf` serve the access rules: undefined when there is no live message. */
    channelOf: async (messageId: string) => (await whose(messageId))?.channelId,
    channelOfAny: async (messageId: string) => (await whose(messageId, { deleted: 'include' }))?.channelId,
    senderOf: async (messageId: string) => (await whose(messageId))?.senderId,
    async personOf(messageId: string): Promise<Pair | undefined> {
      const found = await whose(messageId);
      return found ? { channelId: found.channelId, identityId: found.senderId } : undefined;
    },

    /** @throws errors.messageNotFoundStop, also when its channel is deleted */
    async get(messageId: string, query?: ReadQuery): Promise<Message> {
      const source = { ...sourceFor(query), needs: ['channelId'] };
      const message = await lists.find(messageList, Messages, { _id: messageId }, source, errors.messageNotFoundStop, query);
      if (!(await Channels.exists({ _id: message.channelId }))) throw errors.messageNotFoundStop();
      return message;
    },

    /** @throws errors.noMessageUpdate for an empty change, messageNotFound; validationError for a mention of a stranger */
    async patch(messageId: string, patch: MessagePatch): Promise<Message> {
      const set = givenOf(patch);
      if (Object.keys(set).length === 0) throw errors.noMessageUpdate();
      const refusal = patch.mentions && (await mentions.refusal(await expectLiving(messageId), patch.mentions));
      if (refusal) throw refusal;
      const updatedAt = storage.clock.now();
      const before = keepingText(patch, updatedAt);
      const options = { before, timestamps: false } as const;
      const record = await changeRecord(Messages, { _id: messageId }, { ...set, updatedAt }, [], options);
      return tellUpdated(record, record?.senderId);
    },

    /** Soft-deletes a message; its number is not reused. @throws errors.messageNotFound, also when its channel is deleted */
    async delete(messageId: string): Promise<void> {
      await expectLiving(messageId);
      const deleted = await Messages.findOneAndDelete({ _id: messageId }).lean<MessageRecord>();
      if (!deleted) throw errors.messageNotFound();
      await teller.tell(deleted.channelId, deletedRecord(deleted), { kind: 'message' });
      await pins.free(messageId);
      await replies.tellChanged(deleted, deletedRecord(deleted));
    },

    /** @throws errors.messageNotFound when there is nothing to restore, channelNotFound when its channel is deleted */
    async restore(messageId: string, restoredBy?: string): Promise<Message> {
      const found = await Messages.findById(messageId).setOptions({ deleted: 'only' }).lean<MessageRecord>();
      if (!found) throw errors.messageNotFound();
      if (!(await Channels.exists({ _id: found.channelId }))) throw errors.channelNotFound();
      const restored = await Messages.restore(messageId);
      const message = await tellUpdated(restored, restoredBy);
      if (restored) await replies.tellChanged(restored, changedRecord(restored));
      return message;
    },
  };
}
