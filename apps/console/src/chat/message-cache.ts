import {
  applyToMessages,
  applyToPins,
  applyToWindow,
  createMessageLoader,
  describeFailure,
  field,
  joinEarlier,
  joinNewest,
  queryOf,
  rowsOf,
  type ChannelSummary,
  type ChatChange,
  type ChatMessage,
  type LoadedMessages,
  type MessageWindow,
  type RouterOutputs,
  type TandemClient,
} from '@tandem/client';
import type { QueryClient } from '@tanstack/react-query';
import { loadAgain } from '../ui/load-again.js';

/** Most pinned messages, and most replies in one answer. */
const MANY = 100;

export type PinnedMessage = RouterOutputs['chat']['listPins']['data'][number];

export const messagesKey = (channelId: string) => ['messages', channelId] as const;
const windowsKey = (channelId: string) => ['messages-around', channelId] as const;
export const windowKey = (channelId: string, seq: number) => [...windowsKey(channelId), seq] as const;
const oneKey = (channelId: string) => ['message', channelId] as const;
export const messageKey = (channelId: string, messageId: string) => [...oneKey(channelId), messageId] as const;
const threadsKey = (channelId: string) => ['replies', channelId] as const;
export const repliesKey = (channelId: string, messageId: string) => [...threadsKey(channelId), messageId] as const;
export const pinsKey = (channelId: string) => ['pins', channelId] as const;

export type MessageCache = ReturnType<typeof createMessageCache>;

/** The messages that are loaded, kept up to date by events: those of channels, threads and pins, and single ones. */
export function createMessageCache(client: TandemClient, queries: QueryClient, readerId: string) {
  const { chat } = client.api;
  const loader = createMessageLoader(client, { readerId });
  const messagesOf = (channelId: string) => queries.getQueryData<LoadedMessages>(messagesKey(channelId));

  /** Changes what is loaded below a key. What is being loaded may lack the event, and is loaded again. */
  function change<Data>(queryKey: readonly unknown[], how: (data: Data, key: readonly unknown[]) => Data): void {
    for (const query of queries.getQueryCache().findAll({ queryKey })) {
      const data = query.state.data as Data | undefined;
      if (data !== undefined) queries.setQueryData<Data>(query.queryKey, how(data, query.queryKey));
      if (query.state.fetchStatus === 'fetching') void loadAgain(queries, { queryKey: query.queryKey, exact: true });
    }
  }

  function ofThread(replies: LoadedMessages, event: ChatChange, messageId: unknown): LoadedMessages {
    const isElsewhere = 'message' in event && event.message.replyToId !== messageId;
    return isElsewhere ? replies : applyToMessages(replies, event, readerId);
  }
  async function loadReplies(messageId: string, nextToken?: string): Promise<LoadedMessages> {
    const input = { messageId, $top: MANY, ...(nextToken !== undefined && { $nextToken: nextToken }) };
    const answer = rowsOf<ChatMessage>(await chat.listReplies.query(input), input);
    return { messages: answer.value.toReversed(), nextToken: answer.nextToken };
  }

  return {
    wasDeleted: loader.wasDeleted,
    hear(event: ChatChange): void {
      const { channelId } = event;
      loader.hear(event);
      queries.setQueryData<LoadedMessages>(
        messagesKey(channelId),
        (loaded) => loaded && applyToMessages(loaded, event, readerId),
      );
      queries.setQueriesData<MessageWindow>(
        { queryKey: windowsKey(channelId) },
        (around) => around && applyToWindow(around, event, readerId),
      );
      if (event.type === 'typing' || event.type === 'read' || event.type === 'presence') return;
      change<LoadedMessages>(threadsKey(channelId), (replies, key) => ofThread(replies, event, key.at(-1)));
      change<ChatMessage | null>(oneKey(channelId), (one, key) => {
        const isElsewhere = 'message' in event && event.message.id !== key.at(-1);
        if (isElsewhere) return one;
        return applyToMessages({ messages: one ? [one] : [] }, event, readerId).messages[0] ?? null;
      });
      change<readonly PinnedMessage[]>(pinsKey(channelId), (pins) => applyToPins(pins, event));
      // only the server knows the message
      if (event.type === 'pin.created') void loadAgain(queries, { queryKey: pinsKey(channelId) });
    },
    /** Loads the reader's first channels, and those with the given ids. */
    async loadChannels(top: number, ids: readonly string[]): Promise<ChannelSummary[]> {
      const first = await loader.loadChannels(readerId, top);
      const [one, ...more] = ids.filter((id) => !first.some((channel) => channel.id === id));
      if (one === undefined) return first;
      const { parameters } = queryOf('chat.listChannels')
        .where(field('id').in(one, ...more))
        .top(ids.length);
      const input = { memberId: readerId, ...parameters };
      return [...first, ...rowsOf<ChannelSummary>(await chat.listChannels.query(input), input).value];
    },
    /** Loads a channel's last messages. Known earlier ones stay. */
    async load(channelId: string): Promise<LoadedMessages> {
      const newest = await loader.load(channelId);
      return joinNewest(messagesOf(channelId), newest);
    },
    async loadEarlier(channelId: string): Promise<void> {
      const nextToken = messagesOf(channelId)?.nextToken;
      if (nextToken === undefined) return;
      const earlier = await loader.load(channelId, { nextToken });
      queries.setQueryData<LoadedMessages>(messagesKey(channelId), (known) => known && joinEarlier(known, earlier, nextToken));
    },
    /** Loads the messages around a number. */
    loadAround: (channelId: string, seq: number): Promise<MessageWindow> => loader.loadAround(channelId, seq),
    async extendAround(channelId: string, seq: number, end: 'earlier' | 'later'): Promise<void> {
      const queryKey = windowKey(channelId, seq);
      const known = queries.getQueryData<MessageWindow>(queryKey);
      if (!known) return;
      const extended = await loader.extend(channelId, known, end);
      queries.setQueryData<MessageWindow>(queryKey, extended);
    },
    /** A message that may be anywhere in its channel; null if there is none any more. */
    async loadOne(messageId: string): Promise<ChatMessage | null> {
      try {
        return await chat.getMessage.query({ messageId });
      } catch (error) {
        const { status } = describeFailure(error);
        if (status === 404 || status === 403) return null;
        throw error;
      }
    },
    /** Loads a message's last replies. Known earlier ones stay. */
    async loadReplies(channelId: string, messageId: string): Promise<LoadedMessages> {
      const newest = await loadReplies(messageId);
      return joinNewest(queries.getQueryData<LoadedMessages>(repliesKey(channelId, messageId)), newest);
    },
    async loadEarlierReplies(channelId: string, messageId: string): Promise<void> {
      const queryKey = repliesKey(channelId, messageId);
      const nextToken = queries.getQueryData<LoadedMessages>(queryKey)?.nextToken;
      if (nextToken === undefined) return;
      const earlier = await loadReplies(messageId, nextToken);
      queries.setQueryData<LoadedMessages>(queryKey, (known) => known && joinEarlier(known, earlier, nextToken));
    },
    async loadPins(channelId: string): Promise<readonly PinnedMessage[]> {
      const { parameters } = queryOf('chat.listPins').top(MANY);
      const answer = rowsOf(await chat.listPins.query({ channelId, ...parameters }), parameters);
      return answer.value;
    },
    /** Loads the addresses of files again, which end, for all messages of a channel that are loaded. @returns how many */
    async renewFiles(channelId: string): Promise<number> {
      const keys = [messagesKey, windowsKey, threadsKey].map((key) => ({ queryKey: key(channelId) }));
      const single = { queryKey: oneKey(channelId) };
      const lists = keys.flatMap((key) => queries.getQueriesData<LoadedMessages>(key));
      const loaded = [
        ...lists.flatMap(([, list]) => list?.messages ?? []),
        ...queries.getQueriesData<ChatMessage | null>(single).flatMap(([, one]) => one ?? []),
      ];
      const ids = [...new Set(loaded.flatMap(({ id, attachments }) => (attachments.length > 0 ? id : [])))];
      const files = new Map<string, ChatMessage['attachments'][number]>();
      for (let at = 0; at < ids.length; at += MANY) {
        const { parameters } = queryOf('chat.listMessages')
          .where(field('id').in(...(ids.slice(at, at + MANY) as [string, ...string[]])))
          .top(MANY);
        const input = { channelId, ...parameters };
        for (const { attachments } of rowsOf<ChatMessage>(await chat.listMessages.query(input), input).value)
          for (const file of attachments) files.set(file.id, file);
      }
      const renewed = (message: ChatMessage) => ({
        ...message,
        attachments: message.attachments.map((file) => files.get(file.id) ?? file),
      });
      for (const key of keys)
        queries.setQueriesData<LoadedMessages>(key, (list) => list && { ...list, messages: list.messages.map(renewed) });
      queries.setQueriesData<ChatMessage | null>(single, (one) => one && renewed(one));
      return ids.length;
    },
    /** Loads a channel's messages again: those that are shown, and others when they are. */
    refresh(channelId: string): void {
      for (const key of [messagesKey, windowsKey, oneKey, threadsKey, pinsKey])
        void loadAgain(queries, { queryKey: key(channelId) });
    },
  };
}
