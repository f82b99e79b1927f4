import { defineModel, type Live } from '@tandem/storage';

export type ReactionChange = 'reaction.created' | 'reaction.deleted';

/**
 * Who reacts to a message with one key: one record, so that its count is one with its people. It is deleted with the last of
 * them; the next begins another record.
 */
export interface ReactionRecord extends Live {
  messageId: string;
  channelId: string;
  key: string;
  /** The place among the keys of the message, below `KEYS_MAX`. */
  slot: number;
  identityIds: string[];
  count: number;
  /** The last change. */
  last: { type: ReactionChange; identityId: string };
}

/** Maximum number of keys a message, and of people a key: they lie in one record, which each of them changes. */
export const KEYS_MAX = 20;
export const PEOPLE_MAX = 5000;

export const reactionModel = defineModel<ReactionRecord>('reactions', {
  // followed by the numbers of changes, and shown by no event
  traced: { kind: 'reaction', hidden: ['identityIds', 'slot'] },
  // see `chat-erasure.ts`: it is counted
  people: {
    identityIds: { erased: 'own', exported: ['messageId', 'channelId', 'key'] },
    'last.identityId': { erased: 'own', exported: false },
  },
  // a channel that goes takes its messages with it
  goesWith: [{ with: 'messages', by: 'messageId' }],
  fields: {
    messageId: { type: String, required: true },
    channelId: { type: String, required: true },
    key: { type: String, required: true },
    slot: { type: Number, required: true },
    identityIds: { type: [String], required: true },
    count: { type: Number, required: true },
    last: { type: Object, required: true },
  },
  indexes: [
    { keys: { identityIds: 1 }, deletedToo: true, serves: 'what a person reacts with' },
    { keys: { messageId: 1 }, deletedToo: true, serves: 'what goes for good with a message' },
    { keys: { messageId: 1, key: 1 }, unique: true, serves: 'the reactions to messages; one record for each key' },
    { keys: { messageId: 1, slot: 1 }, unique: true, serves: 'as many keys a message as there are places' },
  ],
});
