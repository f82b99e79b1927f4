import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { messageResource } from './messages.schemas.js';

export interface MessageRecord extends Live {
  channelId: string;
  /** Counts from 1 without gaps: see `message-log.ts`. */
  seq: number;
  senderId: string;
  content: string;
  title: string | null;
  /** The name that the sender's client gave the message; null if none. */
  clientId: string | null;
}

export const messageModel = defineModel<MessageRecord>('messages', {
  fields: {
    channelId: { type: String, required: true },
    seq: { type: Number, required: true },
    senderId: { type: String, required: true },
    content: { type: String, required: true },
    title: { type: String, default: null },
    clientId: { type: String, default: null },
  },
  indexes: [
    {
      keys: { channelId: 1, seq: 1 },
      unique: true,
      deletedToo: true,
      serves: 'numbers: one message each, the last one of a channel, those after one',
    },
    {
      keys: { channelId: 1, senderId: 1, clientId: 1 },
      unique: true,
      where: { clientId: { $type: 'string' } },
      deletedToo: true,
      serves: 'what a client sends twice is stored once',
    },
    ...listIndexes(messageResource, { within: ['channelId'] }),
  ],
});
