import type { EventBus } from '@tandem/core';
import { newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import { publishChatEvent } from './chat-events.js';
import type { Memberships } from './memberships.js';
import type { MessageLog } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { Message, NewMessage } from './messages.schemas.js';

export type MessagesService = ReturnType<typeof createMessagesService>;

interface MessagesOptions {
  storage: Storage;
  bus: EventBus;
  log: MessageLog;
  memberships: Memberships;
  attachments: Attachments;
}

/** A message without its attachments, which are no part of its record. */
function showBare(record: MessageRecord): Message {
  return { ...present(record), attachments: [] };
}

/** The messages of channels. Ids are UUID strings; nothing here knows HTTP. */
export function createMessagesService({ storage, bus, log, memberships, attachments }: MessagesOptions) {
  const Messages = storage.model(messageModel);

  /** Fills in the attachments, by one query. */
  async function addAttachments(messages: readonly Message[]): Promise<void> {
    const files = await attachments.of(messages.map(({ id }) => id));
    for (const message of messages) message.attachments = files.get(message.id) ?? [];
  }

  return {
    /**
     * Stores a message of a member and tells the channel's readers. The same `clientId` of the same sender again is stored once: the stored
     * message is the answer, and is told again, since who stored it first may have died before.
     * @throws errors.notSubscribed
     */
    async post({ channelId, senderId, content, title = null, clientId = null }: NewMessage): Promise<Message> {
      await memberships.subscriptionOf(senderId, channelId);
      const id = newId(storage.clock);
      const now = storage.clock.now();
      const given = { channelId, senderId, content, title, clientId };
      const record = await log.append({ _id: id, ...given, createdAt: now, updatedAt: now, deletedAt: null });
      const message = showBare(record);
      if (record._id !== id) await addAttachments([message]);
      if (record.deletedAt === null) publishChatEvent(bus, { type: 'message.created', channelId, message });
      return message;
    },

    /**
     * For replay: the messages of a channel after a number, upwards. Those below the highest number of an answer that are not in it are
     * deleted: none of them comes later. Fewer than `limit` are all there were.
     */
    async since(channelId: string, seq: number, limit: number): Promise<Message[]> {
      const after = Messages.find({ channelId, seq: { $gt: seq } }, undefined, { sort: { seq: 1 }, limit });
      const messages = (await after.lean<MessageRecord[]>()).map(showBare);
      await addAttachments(messages);
      return messages;
    },
  };
}
