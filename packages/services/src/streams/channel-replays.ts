import type { ChatEvent, LastingEvent } from '../chat/chat-events.js';
import type { ChatService } from '../chat/chat.service.js';
import type { ChannelReader } from './channel-feeds.js';
import type { SenderCards } from './sender-cards.js';

/** Changes per read from the store. */
const PAGE = 100;

type Created = Extract<ChatEvent, { type: 'message.created' }>;
/** Says where the replay of changes has ended. */
interface Replayed {
  type: 'replayed';
  channelId: string;
  change: number;
}

interface ChannelReplaysOptions {
  chat: Pick<ChatService, 'messagesSince' | 'changesSince'>;
  senders: Pick<SenderCards, 'of'>;
}

export type ChannelReplays = ReturnType<typeof createChannelReplays>;

/** Replays to a reader what it missed, up to where its live events begin: see `channel-feeds.ts`. */
export function createChannelReplays({ chat, senders }: ChannelReplaysOptions) {
  /** The same events, with senders for a reader that asked for them. */
  async function expanded<Event extends LastingEvent>(
    channelId: string,
    { hasSenders }: ChannelReader,
    events: Event[],
  ): Promise<Event[]> {
    if (!hasSenders) return events;
    const messages = events.flatMap((event) => ('message' in event ? event.message : []));
    const shown = await senders.of(channelId, messages);
    return events.map((event) => ('message' in event ? { ...event, message: shown.shift() } : event));
  }

  /** The messages between two numbers, upwards. */
  async function* messages(channelId: string, reader: ChannelReader, since: number, upTo: number): AsyncGenerator<Created> {
    for (let cursor: number | undefined = since; cursor !== undefined && cursor < upTo;) {
      const { posts, next } = await chat.messagesSince(channelId, cursor, PAGE);
      const missed = posts.filter(({ message }) => message.seq <= upTo);
      yield* await expanded(
        channelId,
        reader,
        missed.map((post) => ({ type: 'message.created', channelId, ...post })),
      );
      cursor = next;
    }
  }

  /** The changes between two numbers, upwards. */
  async function* changes(channelId: string, reader: ChannelReader, since: number, upTo: number): AsyncGenerator<LastingEvent> {
    for (let cursor: number | undefined = since; cursor !== undefined && cursor < upTo;) {
      const { changes: found, next } = await chat.changesSince(channelId, cursor, PAGE, upTo);
      const missed = found.flatMap(({ event }) => event ?? []);
      yield* await expanded(channelId, reader, missed);
      cursor = next;
    }
  }

  return {
    /** The messages after a number, in order. */
    messagesAfter: (channelId: string, reader: ChannelReader, seq: number) =>
      messages(channelId, reader, seq, reader.from?.seq ?? 0),

    /** The changes after a number, in order, then where they end. 0 begins with the messages from before these numbers. */
    async *changesAfter(channelId: string, reader: ChannelReader, since: number): AsyncGenerator<LastingEvent | Replayed> {
      const { seq, change: upTo } = reader.from ?? { seq: 0, change: 0 };
      if (since === 0)
        for await (const event of messages(channelId, reader, 0, seq)) {
          if (event.change > 0) break;
          yield event;
        }
      yield* changes(channelId, reader, since, upTo);
      yield { type: 'replayed', channelId, change: upTo };
    },
  };
}
