import { defineModel, type Live } from '@tandem/storage';

/**
 * A pinned message. Each takes one of the numbered places of its channel, so that a unique index limits them; removal frees it. Its
 * changes stand in the event log, which shows them to nobody: whoever appends them sees that the channel's readers are told.
 */
export interface PinRecord extends Live {
  channelId: string;
  messageId: string;
  /** Who pinned it. */
  identityId: string;
  place: number;
}

export const pinModel = defineModel<PinRecord>('pins', {
  traced: { kind: 'pin', removes: [] },
  people: { identityId: { erased: 'replace', exported: ['channelId', 'messageId', 'createdAt'] } },
  // a channel that goes takes its messages with it
  goesWith: [{ with: 'messages', by: 'messageId' }],
  fields: {
    channelId: { type: String, required: true },
    messageId: { type: String, required: true },
    identityId: { type: String, required: true },
    place: { type: Number, required: true },
  },
  indexes: [
    { keys: { channelId: 1, place: 1 }, unique: true, serves: 'the pins of a channel, and one for each place' },
    { keys: { messageId: 1 }, unique: true, serves: 'the pin of a message' },
    { keys: { messageId: 1 }, deletedToo: true, serves: 'what goes for good with a message' },
  ],
});
