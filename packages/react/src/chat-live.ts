import { createChatClient, queryOptions, rowsOf, type ChatClient, type ChatEvent, type ChatMessage } from '@tandem/client';
import {
  applyToChannel,
  applyToMessages,
  joinMessages,
  readUpTo,
  upToDate,
  withMessage,
  type ChannelSummary,
  type Messages,
} from './chat-state.js';
import type { LiveOptions } from './live.js';
import { createOutgoing } from './outgoing.js';
import { createShared } from './shared.js';
import { createStore } from './store.js';
import { keyFor } from './tandem.js';
import { createTyping } from './typing.js';

/** Messages loaded at once, and most channels in the list. */
const PAGE = 50;
const CHANNELS = 100;

type Stream = ChatClient & { followed: Map<string, { users: number; stop(): void }> };
export type ChatLive = ReturnType<typeof createChatLive>;

/** Keeps the loaded channels and messages up to date, and sends. */
export function createChatLive({ url, WebSocket, client, identityId, queries }: LiveOptions) {
  const channelsKey = keyFor(identityId, 'chat.listChannels', 'live');
  const messagesKey = (channelId: string) => keyFor(identityId, 'chat.listMessages', { channelId, live: true });
  const isLive = createStore(false);
  const outgoing = createOutgoing();
  const typing = createTyping();
  /** The events heard while answers about a channel are under way, which may lack them. */
  const underWay = new Map<string, Set<ChatEvent[]>>();

  const loadAgain = (queryKey: readonly unknown[]) => void queries.invalidateQueries({ queryKey });
  const loadedMessages = (channelId: string) => queries.getQueryData<Messages>(messagesKey(channelId));
  function changeMessages(channelId: string, how: (loaded: Messages) => Messages): void {
    queries.setQueryData<Messages>(messagesKey(channelId), (loaded) => loaded && how(loaded));
  }
  function changeChannel(channelId: string, how: (channel: ChannelSummary) => ChannelSummary): void {
    queries.setQueryData<ChannelSummary[]>(channelsKey, (all) => all?.map((one) => (one.id === channelId ? how(one) : one)));
  }

  function hear(event: ChatEvent): void {
    const { channelId } = event;
    for (const events of underWay.get(channelId) ?? []) events.push(event);
    changeChannel(channelId, (channel) => applyToChannel(channel, event, identityId));
    changeMessages(channelId, (loaded) => applyToMessages(loaded, event));
    if (event.type === 'typing' && event.identityId !== identityId) typing.start(channelId, event.identityId);
    if (event.type !== 'message.created') return;
    typing.stop(channelId, event.message.senderId);
    if (event.message.clientId !== null) outgoing.remove(event.message.clientId);
  }

  const shared = createShared((): Stream => {
    const stream = createChatClient({
      url,
      client,
      WebSocket,
      onState: (state) => isLive.set(state === 'up'),
    });
    return {
      ...stream,
      followed: new Map(),
      close() {
        stream.close();
        isLive.set(false);
        typing.clear();
      },
    };
  });

  function startFollowing(stream: Stream, channelId: string, sinceSeq: number): () => void {
    let times = 0;
    return stream.follow(
      channelId,
      {
        onEvent: hear,
        // after a drop only new messages are told, not what was changed or deleted
        onSubscribed: () => times++ > 0 && loadAgain(messagesKey(channelId)),
        onEnd() {
          stream.followed.delete(channelId);
          loadAgain(channelsKey);
          loadAgain(messagesKey(channelId));
        },
      },
      { sinceSeq },
    );
  }

  /** Loads messages, the newest first, and adds what happens meanwhile. */
  async function load(channelId: string, nextToken: string | undefined, signal?: AbortSignal): Promise<Messages> {
    const events: ChatEvent[] = [];
    const listening = underWay.get(channelId) ?? new Set();
    underWay.set(channelId, listening.add(events));
    try {
      const parameters = { $top: PAGE, ...(nextToken !== undefined && { $nextToken: nextToken }) };
      const { queryFn } = queryOptions(client, 'chat.listMessages', { channelId, ...parameters });
      const page = rowsOf<ChatMessage>(await queryFn(signal && { signal }), parameters);
      const isNewest = nextToken === undefined;
      return events
        .filter(({ type }) => isNewest || type !== 'message.created')
        .reduce(applyToMessages, { messages: page.value.toReversed(), nextToken: page.nextToken });
    } finally {
      listening.delete(events);
    }
  }

  return {
    isLive,
    channelsKey,
    messagesKey,
    pending: outgoing.messages,
    typing: typing.people,
    close: shared.close,

    async loadChannels(signal: AbortSignal): Promise<ChannelSummary[]> {
      const parameters = { $top: CHANNELS };
      const { queryFn } = queryOptions(client, 'chat.listChannels', { memberId: identityId, ...parameters });
      const { value } = rowsOf<ChannelSummary>(await queryFn({ signal }), parameters);
      const known = new Map(queries.getQueryData<ChannelSummary[]>(channelsKey)?.map((one) => [one.id, one]));
      return value.map((channel) => upToDate(channel, known.get(channel.id)));
    },

    async loadMessages(channelId: string, signal: AbortSignal): Promise<Messages> {
      const loaded = await load(channelId, undefined, signal);
      return joinMessages(loadedMessages(channelId), loaded);
    },

    async loadEarlier(channelId: string): Promise<void> {
      const before = loadedMessages(channelId)?.nextToken;
      if (before === undefined) return;
      const { messages, nextToken } = await load(channelId, before);
      changeMessages(channelId, (loaded) =>
        loaded.nextToken === before ? { messages: [...messages, ...loaded.messages], nextToken } : loaded,
      );
    },

    /** Follows a channel from the last loaded message, or from a number. @returns a function that ends it */
    follow(channelId: string, sinceSeq = loadedMessages(channelId)?.messages.at(-1)?.seq ?? 0): () => void {
      const [stream, release] = shared.use();
      const { followed } = stream;
      const one = followed.get(channelId) ?? { users: 0, stop: startFollowing(stream, channelId, sinceSeq) };
      followed.set(channelId, one);
      one.users += 1;
      return () => {
        one.users -= 1;
        // the next user may come in the same commit
        queueMicrotask(() => {
          if (one.users > 0 || followed.get(channelId) !== one) return;
          followed.delete(channelId);
          one.stop();
        });
        release();
      };
    },

    /** Sends a message, also after the component that sends it has gone. Shown as pending until it is stored. */
    send(channelId: string, content: string): void {
      outgoing.send({ channelId, content }, async (message) => {
        const [stream, release] = shared.use();
        try {
          const stored = await stream.send(message);
          changeChannel(channelId, (channel) =>
            applyToChannel(channel, { type: 'message.created', channelId, message: stored }, identityId),
          );
          changeMessages(channelId, (loaded) => withMessage(loaded, stored));
        } finally {
          release();
        }
      });
    },

    sayTyping(channelId: string): void {
      if (!typing.mayReport(channelId)) return;
      const [stream, release] = shared.use();
      stream.typing(channelId);
      release();
    },

    /** Marks the loaded messages of a channel read. */
    markRead(channelId: string): void {
      const last = loadedMessages(channelId)?.messages.at(-1);
      if (!last) return;
      const [stream, release] = shared.use();
      stream.markRead(channelId, last.id);
      release();
      changeChannel(channelId, (channel) => readUpTo(channel, last.seq));
    },
  };
}
