import { createChatClient, queryOf, rowsOf, type ChatClient, type ChatEvent, type ChatMessage } from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { useRoute } from 'wouter';
import { useIdentityId, useSession } from '../session/session.js';
import type { QueryState } from '../ui/query-failure.js';
import {
  applyToChannel,
  applyToMessages,
  inOrder,
  unreadOf,
  upToDate,
  withMessage,
  type Channel,
  type Messages,
} from './channel-state.js';

/** Messages loaded at once, and most channels in the list. */
const PAGE = 50;
const CHANNELS = 100;
/**
 * No event reports being added to a channel, so the list is polled at these intervals, in milliseconds: while it is
 * visible, and elsewhere.
 */
const REFRESH_MS = { here: 5000, elsewhere: 20_000 };
/** How long somebody is shown as typing, in milliseconds: typing is reported every two seconds. */
const TYPING_MS = 4000;

export interface Chat {
  /** Last message first; undefined until loaded. */
  channels: readonly Channel[] | undefined;
  loading: QueryState;
  /** Over all channels. */
  unread: number;
  isLive: boolean;
  /** Who is typing in a channel, except oneself. */
  typingIn(channelId: string): readonly string[];
  /** Loads a channel's messages, last ones first. */
  load(channelId: string, nextToken?: string): Promise<Messages>;
  /** Resolves when stored; resent when the connection drops. */
  send(channelId: string, draft: Draft): Promise<void>;
  sayTyping(channelId: string): void;
  markRead(message: ChatMessage): void;
  create(name: string): Promise<string>;
}

/** A message that is not stored yet. */
export interface Draft {
  /** Its id here, which the stored message keeps. */
  clientId: string;
  content: string;
}

const ChatContext = createContext<Chat | undefined>(undefined);

/** The signed-in identity's channels, updated live. @throws Error outside its provider */
export function useChat(): Chat {
  const chat = use(ChatContext);
  if (!chat) throw new Error('there is no chat here');
  return chat;
}

export const messagesKey = (channelId: string) => ['messages', channelId] as const;
/** Of the messages that are on their way. */
export const sendKey = (channelId: string) => ['send', channelId] as const;

export function ChatProvider({ children }: { children: ReactNode }) {
  const { client } = useSession();
  const memberId = useIdentityId();
  const queries = useQueryClient();
  const [isHere] = useRoute('/chat/*?');
  const [isLive, setLive] = useState(false);
  const [typing, setTyping] = useState<readonly { channelId: string; identityId: string; until: number }[]>([]);
  const stream = useRef<ChatClient>(undefined);
  const followed = useRef(new Map<string, () => void>());
  /** Number of events received per channel: a response requested before an event may lack it. */
  const heard = useRef(new Map<string, number>());
  const channelsKey = ['channels', memberId];

  const loading = useQuery({
    queryKey: channelsKey,
    queryFn: async () => {
      const { parameters } = queryOf('chat.listChannels').top(CHANNELS);
      const { value } = rowsOf(await client.api.chat.listChannels.query({ memberId, ...parameters }), parameters);
      const known = queries.getQueryData<Channel[]>(channelsKey) ?? [];
      return value.map((channel) => upToDate(channel, known.find(({ id }) => id === channel.id))); // prettier-ignore
    },
    select: inOrder,
    // also when the page becomes visible again
    staleTime: 0,
    refetchInterval: isHere ? REFRESH_MS.here : REFRESH_MS.elsewhere,
  });
  const { data: channels } = loading;

  function changeChannel(channelId: string, how: (channel: Channel) => Channel): void {
    queries.setQueryData<Channel[]>(channelsKey, (all) =>
      all?.map((channel) => (channel.id === channelId ? how(channel) : channel)),
    );
  }
  function changeMessages(channelId: string, how: (shown: Messages) => Messages): void {
    queries.setQueryData<Messages>(messagesKey(channelId), (shown) => shown && how(shown));
  }
  const loadAnew = () => void queries.invalidateQueries({ queryKey: channelsKey });

  function stopTyping(channelId: string, identityId: string): void {
    setTyping((all) => all.filter((one) => one.channelId !== channelId || one.identityId !== identityId));
  }
  function startTyping(channelId: string, identityId: string): void {
    if (identityId === memberId) return;
    const until = Date.now() + TYPING_MS;
    setTyping((all) => [
      ...all.filter((one) => one.channelId !== channelId || one.identityId !== identityId),
      { channelId, identityId, until },
    ]);
    setTimeout(() => setTyping((all) => all.filter((one) => one.until > Date.now())), TYPING_MS + 1);
  }

  const onEvent = useEffectEvent((event: ChatEvent): void => {
    const { channelId } = event;
    heard.current.set(channelId, (heard.current.get(channelId) ?? 0) + 1);
    changeChannel(channelId, (channel) => applyToChannel(channel, event, memberId));
    changeMessages(channelId, (shown) => applyToMessages(shown, event));
    if (event.type === 'typing') startTyping(channelId, event.identityId);
    if (event.type === 'message.created') stopTyping(channelId, event.message.senderId);
    if (event.type === 'attachment.created' || event.type === 'attachment.deleted')
      void queries.invalidateQueries({ queryKey: messagesKey(channelId) });
    if (event.type === 'message.deleted' || event.type === 'channel.deleted') loadAnew();
  });
  const onEnd = useEffectEvent(loadAnew);

  useEffect(() => {
    const made = createChatClient({ url: location.origin, client, onState: (state) => setLive(state === 'up') });
    stream.current = made;
    const following = followed.current;
    return () => {
      stream.current = undefined;
      following.clear();
      made.close();
    };
  }, [client]);

  useEffect(() => {
    const { current: made } = stream;
    if (!made || !channels) return;
    const following = followed.current;
    const ids = new Set(channels.map(({ id }) => id));
    for (const [channelId, unfollow] of following)
      if (!ids.has(channelId)) {
        following.delete(channelId);
        unfollow();
      }
    for (const { id, lastSeq = 0 } of channels) {
      if (following.has(id)) continue;
      const handlers = {
        onEvent: (event: ChatEvent) => onEvent(event),
        onEnd() {
          following.delete(id);
          onEnd();
        },
      };
      following.set(id, made.follow(id, handlers, { sinceSeq: lastSeq }));
    }
  }, [channels]);

  const chat: Chat = {
    channels,
    loading,
    unread: (channels ?? []).reduce((sum, channel) => sum + unreadOf(channel), 0),
    isLive,
    typingIn: (channelId) => typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    async load(channelId, nextToken) {
      const query = queryOf('chat.listMessages').top(PAGE);
      const { parameters } = nextToken === undefined ? query : query.after(nextToken);
      for (;;) {
        const before = heard.current.get(channelId);
        const answer = rowsOf(await client.api.chat.listMessages.query({ channelId, ...parameters }), parameters);
        if (heard.current.get(channelId) === before) return { messages: answer.value.toReversed(), nextToken: answer.nextToken };
      }
    },
    async send(channelId, draft) {
      if (!stream.current) throw new Error('the connection is closed');
      const message = await stream.current.send({ channelId, ...draft });
      changeChannel(channelId, (channel) => applyToChannel(channel, { type: 'message.created', channelId, message }, memberId));
      changeMessages(channelId, (shown) => withMessage(shown, message));
    },
    sayTyping: (channelId) => stream.current?.typing(channelId),
    markRead({ channelId, id, seq }) {
      stream.current?.markRead(channelId, id);
      changeChannel(channelId, (channel) => ({ ...channel, readSeq: Math.max(channel.readSeq ?? 0, seq) }));
    },
    async create(name) {
      const { id } = await client.api.chat.createChannel.mutate({ name, ownerId: memberId });
      await loading.refetch();
      return id;
    },
  };
  return <ChatContext value={chat}>{children}</ChatContext>;
}
