import type { Storage } from '@tandem/storage';
import { createShortCopies } from '../shared/short-copies.js';
import { chatErrors as errors } from './chat.errors.js';
import { messageModel, type MessageRecord } from './message.model.js';

/** Finds the channels of messages that somebody acts on (decisions S4). */
export function createMessageChannels(storage: Storage) {
  const Messages = storage.model(messageModel);
  /** Channels by message, cached for a second, so that a message that many react to costs one lookup. */
  const copies = createShortCopies<string>();

  async function channelOf(messageId: string): Promise<string> {
    const message = await Messages.findById(messageId, { channelId: 1 }).lean<MessageRecord>();
    if (!message) throw errors.notSubscribed();
    return message.channelId;
  }

  return {
    /** The channel of a live message, or of one that was live less than a second ago. @throws errors.notSubscribed */
    channelOf: (messageId: string): Promise<string> => copies.get(messageId, () => channelOf(messageId)),

    /** Drops the copy of a message that is deleted, so that at least this instance knows at once. */
    forget: copies.drop,
  };
}
export type MessageChannels = ReturnType<typeof createMessageChannels>;
