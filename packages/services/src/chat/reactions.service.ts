import { MAJORITY, isDuplicateKey, type Storage } from '@tandem/storage';
import { anyFree } from '../shared/free-numbers.js';
import type { Message } from './messages.schemas.js';
import { changedRecord, type ChangeTeller } from './change-teller.js';
import type { LastingEvent, SentMessage } from './chat-events.js';
import { chatErrors as errors } from './chat.errors.js';
import { isChange, type LogRecord } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import { KEYS_MAX, PEOPLE_MAX, reactionModel, type ReactionChange, type ReactionRecord } from './reaction.model.js';

export type ReactionsService = ReturnType<typeof createReactionsService>;

type ReactionEvent = Extract<LastingEvent, { type: 'reaction.created' | 'reaction.deleted' }>;

/** Who reacts to what. */
export interface GivenReaction {
  messageId: string;
  key: string;
  identityId: string;
}

/** A message as frames show it to all readers: without whose reactions are `mine` (decisions S6). */
export function sentToAll(message: Message): SentMessage {
  return { ...message, reactions: message.reactions.map(({ key, count }) => ({ key, count })) };
}

/** Adds to messages of a page what people react with, by one query. */
export function createReactionLookup(storage: Storage) {
  const { collection } = storage.model(reactionModel);
  /** @param viewerId whose reactions are `mine` */
  return async function addReactions(messages: readonly Message[], viewerId: string | undefined): Promise<void> {
    const mine = viewerId === undefined ? { $literal: false } : { $in: [viewerId, '$identityIds'] };
    const found = await collection
      .aggregate<Pick<ReactionRecord, '_id' | 'messageId' | 'key' | 'count'> & { mine: boolean }>([
        { $match: { messageId: { $in: messages.map(({ id }) => id) }, deletedAt: null } },
        { $project: { messageId: 1, key: 1, count: 1, mine } },
        { $sort: { _id: 1 } },
      ])
      .toArray();
    const shown = new Map(messages.map((message) => [message.id, message]));
    for (const { messageId, key, count, mine: isMine } of found)
      shown.get(messageId)?.reactions.push({ key, count, mine: isMine });
  };
}

/** What people react to messages with (decisions C3). */
export function createReactionsService({ storage, teller }: { storage: Storage; teller: ChangeTeller }) {
  const Messages = storage.model(messageModel);
  const Reactions = storage.model(reactionModel);

  /** @throws errors.messageNotFound */
  async function channelOf(messageId: string): Promise<string> {
    const message = await Messages.findById(messageId, { channelId: 1 }).lean<MessageRecord>();
    if (!message) throw errors.messageNotFound();
    return message.channelId;
  }

  /** @param moment before the write of the record */
  async function tell({ last, ...record }: ReactionRecord, moment: number): Promise<void> {
    const { channelId, messageId, key, count } = record;
    const event = { channelId, messageId, key, ...last, count };
    await teller.tell(
      channelId,
      changedRecord(record),
      { kind: 'reaction', messageId, key, ...last },
      { seen: { moment, event } },
    );
  }

  /** Changes who is behind a key; without anybody left, its place is free. */
  async function change(filter: object, identityIds: object, type: ReactionChange, identityId: string) {
    const now = storage.clock.now();
    const isLast = { $eq: [{ $size: '$identityIds' }, 0] };
    const update = [
      { $set: { identityIds, updatedAt: now, last: { $literal: { type, identityId } } } },
      { $set: { count: { $size: '$identityIds' }, deletedAt: { $cond: [isLast, now, null] } } },
    ];
    return Reactions.findOneAndUpdate(filter, update, {
      returnDocument: 'after',
      updatePipeline: true,
      timestamps: false,
    }).lean<ReactionRecord>();
  }

  /** Takes a place for another key. @returns undefined where somebody else was faster */
  async function begin(given: Pick<ReactionRecord, 'messageId' | 'channelId' | 'key' | 'slot'>, identityId: string) {
    const last = { type: 'reaction.created', identityId } as const;
    const record = await Reactions.create({ ...given, identityIds: [identityId], count: 1, last }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    return record && { ...record.toObject<ReactionRecord>(), trace: { version: 1 } };
  }

  return {
    /** What readers are told of the changed reactions among records of a channel's log: how many there are now. */
    async toldOf(records: readonly LogRecord[]): Promise<Map<LogRecord, Omit<ReactionEvent, 'change'>>> {
      const changes = records.filter((record) => isChange(record) && record.kind === 'reaction');
      if (changes.length === 0) return new Map();
      const among = { $setIntersection: ['$identityIds', changes.map(({ identityId }) => identityId)] };
      const found = await Reactions.collection
        .aggregate<Pick<ReactionRecord, 'messageId' | 'key' | 'count' | 'identityIds'>>(
          [
            { $match: { messageId: { $in: changes.map(({ messageId }) => messageId) }, deletedAt: null } },
            { $project: { messageId: 1, key: 1, count: 1, identityIds: among } },
          ],
          MAJORITY,
        )
        .toArray();
      const counted = new Map(found.map((one) => [`${one.messageId} ${one.key}`, one]));
      return new Map(
        changes.map((record) => {
          const { channelId, messageId, key, identityId } = record;
          const { count = 0, identityIds = [] } = counted.get(`${messageId} ${key}`) ?? {};
          const type = identityIds.includes(identityId) ? 'reaction.created' : 'reaction.deleted';
          return [record, { type, channelId, messageId, key, identityId, count }];
        }),
      );
    },

    /**
     * Reacts, once an identity and key. @throws errors.messageNotFound; tooManyReactions for one key too many, tooManyReacting for
     * one person too many
     */
    async add({ messageId, key, identityId }: GivenReaction): Promise<void> {
      const own = { $elemMatch: { $eq: identityId } };
      for (;;) {
        const moment = teller.moment();
        const others = { messageId, key, identityIds: { $ne: identityId }, count: { $lt: PEOPLE_MAX } };
        const joined = await change(others, { $concatArrays: ['$identityIds', [identityId]] }, 'reaction.created', identityId);
        if (joined) return tell(joined, moment);
        const found = await Reactions.find({ messageId }, { key: 1, slot: 1, count: 1, identityIds: own }).lean<
          ReactionRecord[]
        >();
        const same = found.find((one) => one.key === key);
        if ((same?.identityIds ?? []).length > 0) return undefined;
        if (same && same.count >= PEOPLE_MAX) throw errors.tooManyReacting({ max: String(PEOPLE_MAX) });
        if (same) continue;
        const slot = anyFree(new Set(found.map(({ slot }) => slot)), KEYS_MAX);
        if (slot === undefined) throw errors.tooManyReactions();
        const begun = await begin({ messageId, channelId: await channelOf(messageId), key, slot }, identityId);
        if (begun) return tell(begun, moment);
      }
    },

    /** Takes a reaction back, if there is one. */
    async remove({ messageId, key, identityId }: GivenReaction): Promise<void> {
      const others = { $filter: { input: '$identityIds', as: 'one', cond: { $ne: ['$$one', identityId] } } };
      const moment = teller.moment();
      const left = await change({ messageId, key, identityIds: identityId }, others, 'reaction.deleted', identityId);
      if (left) await tell(left, moment);
    },
  };
}
