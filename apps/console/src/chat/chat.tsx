import {
  applyToChannel,
  applyToChannels,
  applyToOutgoing,
  createChatClient,
  joinChannels,
  newestFirst,
  readUpTo,
  type ChannelSummary,
  type ChatClient,
  type ChatChange,
  type ChatEvent,
  type ChatMessage,
  type MessageToSend,
  type OutgoingMessage,
  type OwnEvent,
  TandemError,
} from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { isId } from '../ids.js';
import { useIdentityId, useSession } from '../session/session.js';
import { loadAgain } from '../ui/load-again.js';
import type { QueryState } from '../ui/query-failure.js';
import { createDrafts, type Drafts } from './drafts.js';
import { createMessageCache, type MessageCache } from './message-cache.js';
import { useWhoIsHere, type WhoIsHere } from './who-is-here.js';

/** Most channels in the list, besides those that were opened by their addresses. */
const CHANNELS = 100;
/** Most of these. */
const OPENED = 50;

export interface Chat extends Pick<WhoIsHere, 'typingIn' | 'isOnline'> {
  /** Last message first; undefined until loaded. */
  channels: readonly ChannelSummary[] | undefined;
  loading: QueryState;
  /** Over all channels. */
  unread: number;
  isLive: boolean;
  drafts: Drafts;
  messages: MessageCache;
  /** Messages on their way, and those that were refused, in the order of sending. */
  outgoing: readonly OutgoingMessage[];
  /** Sends a message, again when the connection drops, or after a refusal. */
  send(message: MessageToSend & { clientId: string }): void;
  /** Forgets a message that was refused. */
  discard(clientId: string): void;
  /** Shows what the page itself has just changed, before the stream tells of it. */
  show(change: ChatChange): void;
  /** Returns whether it was sent. */
  sayTyping(channelId: string): boolean;
  markRead(message: ChatMessage): void;
  /** Loads the list of channels again. */
  refresh(): Promise<unknown>;
  /** Adds a channel beyond the first to the list, if one is in it. */
  open(channelId: string): Promise<unknown>;
}

const ChatContext = createContext<Chat | undefined>(undefined);

/** The signed-in identity's channels, updated live. @throws Error outside its provider */
export function useChat(): Chat {
  const chat = use(ChatContext);
  if (!chat) throw new Error('there is no chat here');
  return chat;
}

/** As the list shows channels: where all messages are deleted, none is unread. */
function shown(channels: readonly ChannelSummary[]): ChannelSummary[] {
  return newestFirst(channels).map((channel) => (channel.lastMessage ? channel : { ...channel, unread: 0 }));
}

export const membersKey = (channelId: string) => ['members', channelId] as const;

export function ChatProvider({ children }: { children: ReactNode }) {
  const { client, connection } = useSession();
  const memberId = useIdentityId();
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  const [outgoing, setOutgoing] = useState<readonly OutgoingMessage[]>([]);
  const stream = useRef<ChatClient & { of: object }>(undefined);
  const followed = useRef(new Map<string, () => void>());
  /** The last message of each channel that was reported as read. */
  const reported = useRef(new Map<string, string>());
  const whoIsHere = useWhoIsHere(memberId);
  const [messages] = useState(() => createMessageCache(client, queries, memberId));
  const [drafts] = useState(createDrafts);
  const opened = useRef<readonly string[]>([]);
  const channelsKey = ['channels', memberId];

  const loading = useQuery({
    queryKey: channelsKey,
    queryFn: async () => {
      const loaded = await messages.loadChannels(CHANNELS, opened.current);
      return joinChannels(queries.getQueryData<ChannelSummary[]>(channelsKey), loaded);
    },
    select: shown,
    // also when the page becomes visible again
    staleTime: 0,
  });
  const { data: channels } = loading;

  function changeChannel(channelId: string, how: (channel: ChannelSummary) => ChannelSummary): void {
    queries.setQueryData<ChannelSummary[]>(channelsKey, (all) =>
      all?.map((channel) => (channel.id === channelId ? how(channel) : channel)),
    );
  }
  function mayBeLast(messageId: string): boolean {
    const { data, fetchStatus } = queries.getQueryState<ChannelSummary[]>(channelsKey) ?? {};
    // in an answer under way it may be
    return fetchStatus === 'fetching' || data?.some(({ lastMessage }) => lastMessage?.id === messageId) === true;
  }
  function show(change: ChatChange): void {
    messages.hear(change);
    changeChannel(change.channelId, (channel) => applyToChannel(channel, change, memberId));
  }

  const onEvent = useEffectEvent((event: ChatEvent): void => {
    show(event);
    whoIsHere.hear(event);
    if (event.type === 'channel.deleted' || (event.type === 'message.deleted' && mayBeLast(event.messageId)))
      void loadAgain(queries, { queryKey: channelsKey });
    if (event.type.startsWith('subscription.')) void loadAgain(queries, { queryKey: membersKey(event.channelId) });
  });
  function send(message: MessageToSend & { clientId: string }): void {
    // what becomes of it is told by `onOutgoing`, except by a stream that has ended
    const refuse = (error: TandemError) =>
      setOutgoing((all) =>
        all.some(({ clientId, state }) => clientId === message.clientId && state === 'pending')
          ? all
          : applyToOutgoing(all, { ...message, state: 'failed', error }),
      );
    stream.current?.send(message).catch((error: unknown) => refuse(new TandemError(error)));
  }
  const onOutgoing = useEffectEvent((one: OutgoingMessage): void => {
    // the event may come later, or have come with that of its deletion
    if (one.state === 'sent' && !messages.wasDeleted(one.message.id))
      show({ type: 'message.created', channelId: one.channelId, message: one.message });
    setOutgoing((all) => applyToOutgoing(all, one));
  });
  /** Messages that were on their way when a stream ended are stored once under their ids. */
  const sendPending = useEffectEvent(() => outgoing.forEach((one) => one.state === 'pending' && send(one)));
  const forgetWhoIsHere = useEffectEvent(whoIsHere.forget);
  const onEnd = useEffectEvent(() => void loadAgain(queries, { queryKey: channelsKey }));
  const onOwnEvent = useEffectEvent((event: OwnEvent): void => {
    // a followed channel's count changes together with its messages
    if (event.type === 'unread' && followed.current.has(event.channelId)) return;
    // only the server knows its last message: followed without, it would be told from its beginning
    if (event.type === 'channel.added') void loadAgain(queries, { queryKey: channelsKey });
    else queries.setQueryData<readonly ChannelSummary[]>(channelsKey, (all) => all && applyToChannels(all, event));
  });

  useEffect(() => {
    const made = createChatClient({
      url: location.origin,
      client: connection.client,
      onState(state) {
        setLive(state === 'up');
        if (state === 'down') forgetWhoIsHere();
      },
      onOutgoing: (one) => onOutgoing(one),
    });
    stream.current = { ...made, of: connection };
    // what came and went before is not told
    made.followOwn({ onEvent: (event) => onOwnEvent(event), onSubscribed: () => onEnd() });
    sendPending();
    const [following, read] = [followed.current, reported.current];
    return () => {
      stream.current = undefined;
      following.clear();
      read.clear();
      made.close();
    };
  }, [connection]);

  useEffect(() => {
    const { current: made } = stream;
    if (made?.of !== connection || !channels) return;
    const following = followed.current;
    const ids = new Set(channels.map(({ id }) => id));
    for (const [channelId, unfollow] of following)
      if (!ids.has(channelId)) {
        following.delete(channelId);
        unfollow();
        forgetWhoIsHere(channelId);
      }
    for (const { id, lastMessage, lastSeq = 0 } of channels) {
      if (following.has(id)) continue;
      // of a channel whose last message is unknown all would be told
      const isFromEnd = !lastMessage && lastSeq > 0;
      const handlers = {
        onEvent: (event: ChatEvent) => onEvent(event),
        // from now on all is told, after a drop too: what was changed or deleted before is not
        onSubscribed({ isResumed, unread }: { isResumed: boolean; unread: number }) {
          const read = reported.current.get(id);
          // without a connection the report was lost
          if (read !== undefined && unread > 0) made.markRead(id, read);
          if (isFromEnd) onEnd();
          if (!isResumed) messages.refresh(id);
        },
        onEnd() {
          following.delete(id);
          forgetWhoIsHere(id);
          onEnd();
        },
      };
      // not from the last number, which may have been told before its message
      following.set(id, made.follow(id, handlers, isFromEnd ? {} : { sinceSeq: lastMessage?.seq ?? 0 }));
    }
  }, [channels, messages, connection]);

  const discard = (clientId: string) => setOutgoing((all) => all.filter((one) => one.clientId !== clientId));
  const chat: Chat = {
    channels,
    loading,
    unread: (channels ?? []).reduce((sum, { unread = 0 }) => sum + unread, 0),
    isLive,
    drafts,
    messages,
    outgoing,
    typingIn: whoIsHere.typingIn,
    isOnline: whoIsHere.isOnline,
    send,
    discard,
    show,
    sayTyping: (channelId) => stream.current?.typing(channelId) ?? false,
    markRead({ channelId, id, seq }) {
      reported.current.set(channelId, id);
      stream.current?.markRead(channelId, id);
      changeChannel(channelId, (channel) => readUpTo(channel, seq));
    },
    refresh: loading.refetch,
    open(channelId) {
      if (isId(channelId)) opened.current = [channelId, ...opened.current.filter((id) => id !== channelId)].slice(0, OPENED);
      return loading.refetch({ throwOnError: true });
    },
  };
  return <ChatContext value={chat}>{children}</ChatContext>;
}
