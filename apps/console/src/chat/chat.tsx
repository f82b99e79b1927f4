import {
  applyToChannel,
  applyToChannels,
  applyToMessages,
  applyToWindow,
  createChatClient,
  createMessageLoader,
  joinChannels,
  joinEarlier,
  joinNewest,
  newestFirst,
  queryOf,
  readUpTo,
  rowsOf,
  type ChannelSummary,
  type ChatClient,
  type ChatChange,
  type ChatEvent,
  type ChatMessage,
  type LoadedMessages,
  type OwnEvent,
  type MessageWindow,
} from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useRef, useState, type ReactNode } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import type { QueryState } from '../ui/query-failure.js';
import { createDrafts, type Drafts } from './drafts.js';

/** Most channels in the list. */
const CHANNELS = 100;
/** How long somebody is shown as typing, in milliseconds: typing is reported every two seconds. */
const TYPING_MS = 4000;

export interface Chat {
  /** Last message first; undefined until loaded. */
  channels: readonly ChannelSummary[] | undefined;
  loading: QueryState;
  /** Over all channels. */
  unread: number;
  isLive: boolean;
  drafts: Drafts;
  /** Who is typing in a channel, except oneself. */
  typingIn(channelId: string): readonly string[];
  /** Loads a channel's last messages. Known earlier ones stay. */
  load(channelId: string): Promise<LoadedMessages>;
  loadEarlier(channelId: string): Promise<void>;
  /** Loads the messages around a number. */
  loadAround(channelId: string, seq: number): Promise<MessageWindow>;
  extendAround(channelId: string, seq: number, end: 'earlier' | 'later'): Promise<void>;
  /** Resolves when stored; resent when the connection drops. */
  send(channelId: string, message: Outgoing): Promise<void>;
  sayTyping(channelId: string): void;
  markRead(message: ChatMessage): void;
  create(name: string): Promise<string>;
}

/** A message that is not stored yet. */
export interface Outgoing {
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
const windowsKey = (channelId: string) => ['messages-around', channelId] as const;
export const windowKey = (channelId: string, seq: number) => [...windowsKey(channelId), seq] as const;
/** Of the messages that are on their way. */
export const sendKey = (channelId: string) => ['send', channelId] as const;

export function ChatProvider({ children }: { children: ReactNode }) {
  const { client } = useSession();
  const memberId = useIdentityId();
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  const [typing, setTyping] = useState<readonly { channelId: string; identityId: string; until: number }[]>([]);
  const stream = useRef<ChatClient>(undefined);
  const followed = useRef(new Map<string, () => void>());
  const [loader] = useState(() => createMessageLoader(client, { readerId: memberId }));
  const [drafts] = useState(createDrafts);
  const channelsKey = ['channels', memberId];

  const loading = useQuery({
    queryKey: channelsKey,
    queryFn: async () => {
      const { parameters } = queryOf('chat.listChannels').top(CHANNELS);
      const { value } = rowsOf(await client.api.chat.listChannels.query({ memberId, ...parameters }), parameters);
      return joinChannels(queries.getQueryData<ChannelSummary[]>(channelsKey), value);
    },
    select: newestFirst,
    // also when the page becomes visible again
    staleTime: 0,
  });
  const { data: channels } = loading;

  function changeChannel(channelId: string, how: (channel: ChannelSummary) => ChannelSummary): void {
    queries.setQueryData<ChannelSummary[]>(channelsKey, (all) =>
      all?.map((channel) => (channel.id === channelId ? how(channel) : channel)),
    );
  }
  const messagesOf = (channelId: string) => queries.getQueryData<LoadedMessages>(messagesKey(channelId));
  function changeMessages(channelId: string, how: (loaded: LoadedMessages) => LoadedMessages): void {
    queries.setQueryData<LoadedMessages>(messagesKey(channelId), (loaded) => loaded && how(loaded));
  }
  function apply(event: ChatChange): void {
    const { channelId } = event;
    loader.hear(event);
    changeChannel(channelId, (channel) => applyToChannel(channel, event, memberId));
    changeMessages(channelId, (loaded) => applyToMessages(loaded, event, memberId));
    queries.setQueriesData<MessageWindow>(
      { queryKey: windowsKey(channelId) },
      (around) => around && applyToWindow(around, event, memberId),
    );
  }
  const loadAgain = (queryKey: readonly unknown[]) => void queries.invalidateQueries({ queryKey });

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
    apply(event);
    if (event.type === 'typing') startTyping(channelId, event.identityId);
    if (event.type === 'message.created') stopTyping(channelId, event.message.senderId);
    if (event.type === 'message.deleted' || event.type === 'channel.deleted') loadAgain(channelsKey);
  });
  const onEnd = useEffectEvent(() => loadAgain(channelsKey));
  const onOwnEvent = useEffectEvent((event: OwnEvent): void => {
    // a followed channel's count changes together with its messages
    if (event.type === 'unread' && followed.current.has(event.channelId)) return;
    queries.setQueryData<readonly ChannelSummary[]>(channelsKey, (all) => all && applyToChannels(all, event));
    // only the server knows its last message
    if (event.type === 'channel.added') loadAgain(channelsKey);
  });
  const onBegin = useEffectEvent((channelId: string) => {
    loadAgain(messagesKey(channelId));
    loadAgain(windowsKey(channelId));
  });

  useEffect(() => {
    const made = createChatClient({ url: location.origin, client, onState: (state) => setLive(state === 'up') });
    stream.current = made;
    // what came and went before is not told
    made.followOwn({ onEvent: (event) => onOwnEvent(event), onSubscribed: () => onEnd() });
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
    for (const { id, lastMessage } of channels) {
      if (following.has(id)) continue;
      const handlers = {
        onEvent: (event: ChatEvent) => onEvent(event),
        // from now on all is told, after a drop too: what was changed or deleted before is not
        onSubscribed: ({ isResumed }: { isResumed: boolean }) => void (isResumed || onBegin(id)),
        onEnd() {
          following.delete(id);
          onEnd();
        },
      };
      // not from the last number, which may have been told before its message
      following.set(id, made.follow(id, handlers, { sinceSeq: lastMessage?.seq ?? 0 }));
    }
  }, [channels]);

  const chat: Chat = {
    channels,
    loading,
    unread: (channels ?? []).reduce((sum, { unread = 0 }) => sum + unread, 0),
    isLive,
    drafts,
    typingIn: (channelId) => typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    async load(channelId) {
      const newest = await loader.load(channelId);
      return joinNewest(messagesOf(channelId), newest);
    },
    async loadEarlier(channelId) {
      const nextToken = messagesOf(channelId)?.nextToken;
      if (nextToken === undefined) return;
      const earlier = await loader.load(channelId, { nextToken });
      changeMessages(channelId, (loaded) => joinEarlier(loaded, earlier, nextToken));
    },
    loadAround: (channelId, seq) => loader.loadAround(channelId, seq),
    async extendAround(channelId, seq, end) {
      const queryKey = windowKey(channelId, seq);
      const known = queries.getQueryData<MessageWindow>(queryKey);
      if (!known) return;
      const extended = await loader.extend(channelId, known, end);
      queries.setQueryData<MessageWindow>(queryKey, extended);
    },
    async send(channelId, message) {
      if (!stream.current) throw new Error('the connection is closed');
      apply({ type: 'message.created', channelId, message: await stream.current.send({ channelId, ...message }) });
    },
    sayTyping: (channelId) => stream.current?.typing(channelId),
    markRead({ channelId, id, seq }) {
      stream.current?.markRead(channelId, id);
      changeChannel(channelId, (channel) => readUpTo(channel, seq));
    },
    async create(name) {
      const { id } = await client.api.chat.createChannel.mutate({ name, ownerId: memberId });
      await loading.refetch();
      return id;
    },
  };
  return <ChatContext value={chat}>{children}</ChatContext>;
}
