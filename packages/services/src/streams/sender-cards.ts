import { describeError, type Log } from '@tandem/core';
import type { ChatEvent, SentMessage } from '../chat/chat-events.js';
import type { ChatService } from '../chat/chat.service.js';
import type { Person } from '../people/people.schemas.js';
import type { PeopleService } from '../people/people.service.js';

/** How long a card is used again, in milliseconds: who leaves is hidden within a second (decisions S4). */
const CARD_MS = 700;

/** Cards of members of one channel; undefined if they could not be read. */
type Cards = ReadonlyMap<string, Person> | undefined;

interface SenderCardsOptions {
  chat: Pick<ChatService, 'membersAmong'>;
  people: Pick<PeopleService, 'cardsOf'>;
  log: Log;
}

export type SenderCards = ReturnType<typeof createSenderCards>;

/**
 * Puts the cards of senders into messages of a channel. All its readers are members, so that one lookup serves them all: they may
 * see whoever is a member too (decisions N1).
 */
export function createSenderCards({ chat, people, log }: SenderCardsOptions) {
  const recent = new Map<string, Promise<Cards>>();

  async function read(channelId: string, senderIds: ReadonlySet<string>): Promise<Cards> {
    try {
      const members = (await chat.membersAmong(new Map([[channelId, new Set(senderIds)]]))).get(channelId) ?? [];
      return await people.cardsOf([...members]);
    } catch (error) {
      log.warn({ err: describeError(error) }, 'the senders of messages for open streams could not be read');
      return undefined;
    }
  }

  const withCard = (message: SentMessage, cards: Cards) =>
    cards ? { ...message, sender: cards.get(message.senderId) ?? null } : message;

  return {
    /** The same messages with their senders, or without them if these could not be read. */
    async of(channelId: string, messages: readonly SentMessage[]): Promise<SentMessage[]> {
      const cards = await read(channelId, new Set(messages.map(({ senderId }) => senderId)));
      return messages.map((message) => withCard(message, cards));
    },

    /** The same event with the sender of its message. Many events of a sender within a moment take one lookup. */
    in(event: ChatEvent): Promise<ChatEvent> | undefined {
      if (event.type !== 'message.created' && event.type !== 'message.updated') return undefined;
      const { channelId, message } = event;
      const key = `${channelId} ${message.senderId}`;
      const cards = recent.get(key) ?? read(channelId, new Set([message.senderId]));
      if (!recent.has(key)) {
        recent.set(key, cards);
        setTimeout(() => recent.delete(key), CARD_MS).unref();
      }
      return cards.then((found) => ({ ...event, message: withCard(message, found) }));
    },
  };
}
