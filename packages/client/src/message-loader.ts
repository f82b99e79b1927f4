import {
  applyToChannel,
  applyToChannels,
  applyToMessages,
  applyToWindow,
  type ChannelSummary,
  type LoadedMessages,
  type MessageWindow,
} from './chat-state.js';
import type { ChatChange, ChatMessage, OwnEvent } from './chat-types.js';
import type { TandemClient } from './client.js';
import { createDeletedMessages } from './deleted-messages.js';
import { TandemError } from './failure.js';
import { rowsOf } from './list-queries.js';

/** Messages in one answer. */
const PAGE = 50;
/** Messages before and after the one that a window is around. */
const HALF = 25;

/** What loads under way are told; after the others channels are loaded again. */
type Heard = Exclude<ChatChange | OwnEvent, { type: 'channel.added' }>;
const isOwn = (event: Heard): event is Extract<Heard, OwnEvent> => event.type === 'channel.removed' || event.type === 'unread';

export interface MessageLoader {
  /**
   * Takes each event of the followed channels and of one's own, and what `send` resolves with, as a
   * `message.created`.
   */
  hear(event: ChatChange | OwnEvent): void;
  /** Whether a message's deletion was heard, after which what `send` resolves with is not to be shown. */
  wasDeleted(messageId: string): boolean;
  /**
   * A channel's last 50 messages, for `joinNewest`; with `nextToken` the 50 before, for `joinEarlier`. Fails with a
   * TandemError.
   */
  load(
    channelId: string,
    options?: { nextToken?: string | undefined; signal?: AbortSignal | undefined },
  ): Promise<LoadedMessages>;
  /** A channel's messages around a number: 25 before it, and 25 from it on. Fails with a TandemError. */
  loadAround(channelId: string, seq: number, options?: { signal?: AbortSignal | undefined }): Promise<MessageWindow>;
  /** A window with up to 50 more messages at one end. Fails with a TandemError. */
  extend(channelId: string, window: MessageWindow, end: 'earlier' | 'later'): Promise<MessageWindow>;
  /** The first channels of a member, at most `top`, for `joinChannels`. Fails with a TandemError. */
  loadChannels(memberId: string, top: number, options?: { signal?: AbortSignal | undefined }): Promise<ChannelSummary[]>;
}

/**
 * Loads messages and channels, and adds the events that come in the meantime, which an answer may lack. With `expand:
 * ['sender']` messages have their senders' names and pictures. `readerId` is whose reactions are `mine`.
 */
export function createMessageLoader(
  { api }: Pick<TandemClient, 'api'>,
  { expand, readerId }: { expand?: readonly ['sender']; readerId?: string } = {},
): MessageLoader {
  const underWay = new Set<Heard[]>();
  const deleted = createDeletedMessages();

  /** Runs what loads, then applies what was heard meanwhile. */
  async function hearing<Loaded>(read: () => Promise<Loaded>, apply: (loaded: Loaded, event: Heard) => Loaded): Promise<Loaded> {
    const events: Heard[] = [];
    underWay.add(events);
    try {
      const loaded = await read();
      return events.reduce(apply, loaded);
    } catch (error) {
      throw new TandemError(error);
    } finally {
      underWay.delete(events);
    }
  }

  /** Applies the events of one channel. */
  function inChannel<Loaded>(channelId: string, apply: (loaded: Loaded, event: ChatChange, readerId?: string) => Loaded) {
    return (loaded: Loaded, event: Heard) =>
      !isOwn(event) && event.channelId === channelId ? apply(loaded, event, readerId) : loaded;
  }

  async function page(channelId: string, asked: object, signal?: AbortSignal) {
    const input = { channelId, $top: PAGE, ...asked, ...(expand && { $expand: expand[0] }) };
    return rowsOf<ChatMessage>(await api.chat.listMessages.query(input, signal && { signal }), input);
  }
  /** The messages next to a number, oldest first, and whether there are more. */
  async function before(channelId: string, seq: number, $top: number, signal?: AbortSignal) {
    const { value, nextToken } = await page(channelId, { $filter: `seq lt ${seq}`, $orderby: 'seq desc', $top }, signal);
    return { messages: value.toReversed(), isMore: nextToken !== undefined };
  }
  async function from(channelId: string, seq: number, $top: number, signal?: AbortSignal) {
    const { value, nextToken } = await page(channelId, { $filter: `seq ge ${seq}`, $orderby: 'seq', $top }, signal);
    return { messages: value, isMore: nextToken !== undefined };
  }

  return {
    hear(event) {
      if (event.type === 'channel.added') return;
      for (const events of underWay) events.push(event);
      if (!isOwn(event)) deleted.hear(event);
    },
    wasDeleted: deleted.has,
    load: (channelId, { nextToken, signal } = {}) =>
      hearing(
        async () => {
          const { value, nextToken: next } = await page(
            channelId,
            nextToken === undefined ? {} : { $nextToken: nextToken },
            signal,
          );
          return { messages: value.toReversed(), nextToken: next };
        },
        inChannel(channelId, applyToMessages),
      ),
    loadAround: (channelId, seq, { signal } = {}) =>
      hearing(
        async () => {
          const [earlier, later] = await Promise.all([before(channelId, seq, HALF, signal), from(channelId, seq, HALF, signal)]);
          const messages = [...earlier.messages, ...later.messages];
          return { messages, hasEarlier: earlier.isMore, hasLater: later.isMore };
        },
        inChannel(channelId, applyToWindow),
      ),
    extend: (channelId, window, end) =>
      hearing(
        async () => {
          const { messages } = window;
          const [first, last] = [messages[0]?.seq ?? 0, messages.at(-1)?.seq ?? 0];
          if (end === 'earlier') {
            const { messages: more, isMore } = await before(channelId, first, PAGE);
            return { ...window, messages: [...more, ...messages], hasEarlier: isMore };
          }
          const { messages: more, isMore } = await from(channelId, last + 1, PAGE);
          return { ...window, messages: [...messages, ...more], hasLater: isMore };
        },
        inChannel(channelId, applyToWindow),
      ),
    loadChannels: (memberId, top, { signal } = {}) =>
      hearing(
        async () => {
          const input = { memberId, $top: top };
          return rowsOf<ChannelSummary>(await api.chat.listChannels.query(input, signal && { signal }), input).value;
        },
        (channels, event) =>
          isOwn(event)
            ? applyToChannels(channels, event)
            : channels.map((channel) => (channel.id === event.channelId ? applyToChannel(channel, event, memberId) : channel)),
      ),
  };
}
