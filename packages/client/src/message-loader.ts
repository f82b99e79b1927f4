import { applyToMessages, type LoadedMessages } from './chat-state.js';
import type { ChatEvent, ChatMessage } from './chat-types.js';
import type { TandemClient } from './client.js';
import { TandemError } from './failure.js';
import { rowsOf } from './list-queries.js';

/** Messages in one answer. */
const PAGE = 50;

export interface MessageLoader {
  /** Takes each event of the followed channels. */
  hear(event: ChatEvent): void;
  /**
   * A channel's last 50 messages, for `joinNewest`; with `nextToken` the 50 before, for `joinEarlier`. Fails with a
   * TandemError.
   */
  load(
    channelId: string,
    options?: { nextToken?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<LoadedMessages>;
}

/** Loads messages, and adds the events that come in the meantime, which an answer may lack. */
export function createMessageLoader({ api }: Pick<TandemClient, 'api'>): MessageLoader {
  const underWay = new Set<ChatEvent[]>();
  return {
    hear(event) {
      for (const events of underWay) events.push(event);
    },
    async load(channelId, { nextToken, signal } = {}) {
      const events: ChatEvent[] = [];
      underWay.add(events);
      try {
        const input = { channelId, $top: PAGE, ...(nextToken !== undefined && { $nextToken: nextToken }) };
        const answer = await api.chat.listMessages.query(input, signal && { signal });
        const page = rowsOf<ChatMessage>(answer, input);
        return events
          .filter((event) => event.channelId === channelId)
          .reduce(applyToMessages, { messages: page.value.toReversed(), nextToken: page.nextToken });
      } catch (error) {
        throw new TandemError(error);
      } finally {
        underWay.delete(events);
      }
    },
  };
}
