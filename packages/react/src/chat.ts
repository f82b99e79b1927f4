import {
  newestFirst,
  type ChannelSummary,
  type ChatMessage,
  type LoadedMessages,
  type MessageToSend,
  type TandemError,
} from '@tandem/client';
import { skipToken, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { PendingMessage } from './outgoing.js';
import { useShared } from './provider.js';
import { createStore, NEVER, type Store } from './store.js';
import { retryBy } from './tandem.js';
import { withWanted, type WantedReaction } from './reactions.js';
import type { Typist } from './typing.js';

const NOBODY = ['signed out'];
const NO_MESSAGES = createStore<readonly PendingMessage[]>([]);
const NOTHING_REFUSED = createStore<{ channelId: string; error: TandemError } | undefined>(undefined);
const NO_REACTIONS = createStore<readonly WantedReaction[]>([]);
const NO_TYPISTS = createStore<readonly Typist[]>([]);

function useStore<State>({ subscribe, get }: Store<State>): State {
  return useSyncExternalStore(subscribe, get, get);
}

export interface Channels {
  /** Last message first; undefined until loaded. At most 100. */
  channels: readonly (ChannelSummary & { unread: number })[] | undefined;
  /** Over all channels. */
  unread: number;
  error: TandemError | null;
  /** Whether new messages appear by themselves. */
  isLive: boolean;
  /** Loads the list again. */
  refetch(): Promise<void>;
}

/** The signed-in identity's channels with their last messages, live. Empty while nobody is signed in. */
export function useChannels(): Channels {
  const chat = useShared().live?.chat;
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery<ChannelSummary[], TandemError>({
    queryKey: chat?.channelsKey ?? NOBODY,
    queryFn: chat ? ({ signal }) => chat.loadChannels(signal) : skipToken,
    select: newestFirst,
    retry: retryBy(queries),
  });
  const ids = data
    ?.map(({ id }) => id)
    .sort()
    .join(' ');
  useEffect(() => {
    if (!chat || ids === undefined) return undefined;
    const loaded = queries.getQueryData<ChannelSummary[]>(chat.channelsKey) ?? [];
    const ends = loaded.map((channel) => chat.follow(channel.id, channel));
    return () => ends.forEach((end) => end());
  }, [chat, ids, queries]);
  useEffect(() => chat?.followOwn(), [chat]);
  const channels = useMemo(() => data?.map((channel) => ({ ...channel, unread: channel.unread ?? 0 })), [data]);
  return {
    channels,
    unread: (channels ?? []).reduce((sum, { unread }) => sum + unread, 0),
    error,
    isLive: useStore(chat?.isLive ?? NEVER),
    refetch: async () => void (await refetch()),
  };
}

export interface Channel {
  /** Oldest first; undefined until loaded. */
  messages: readonly ChatMessage[] | undefined;
  /** Messages of this page that are not stored yet. */
  pending: readonly PendingMessage[];
  /** The others who are typing. */
  typing: readonly string[];
  error: TandemError | null;
  /** Whether new messages appear by themselves. */
  isLive: boolean;
  hasEarlier: boolean;
  isLoadingEarlier: boolean;
  loadEarlier(): Promise<void>;
  /**
   * Sends a message, once, also over drops of the connection, with files, as a reply, or naming members. It is among
   * `pending` until it is stored.
   */
  send(content: string, more?: Pick<MessageToSend, 'files' | 'replyToId' | 'mentions' | 'metadata' | 'fields'>): void;
  /** Reacts to a message, or takes it back: shown at once, and taken back with an `error` if the server refuses. */
  toggleReaction(messageId: string, key: string): void;
  /** Call it at each key: it is reported every two seconds. */
  sayTyping(): void;
  /** Marks the loaded messages read. */
  markRead(): void;
}

/** The messages of a channel, live. Empty while nobody is signed in. */
export function useChannel(channelId: string): Channel {
  const chat = useShared().live?.chat;
  const queries = useQueryClient();
  const { data, error } = useQuery<LoadedMessages, TandemError>({
    queryKey: chat?.messagesKey(channelId) ?? NOBODY,
    queryFn: chat ? ({ signal }) => chat.loadMessages(channelId, signal) : skipToken,
    // what came while nobody followed the channel is not known
    staleTime: 0,
    retry: retryBy(queries),
  });
  const earlier = useMutation<void, TandemError>({
    // what failed for another channel is forgotten
    mutationKey: chat?.messagesKey(channelId) ?? NOBODY,
    mutationFn: async () => chat?.loadEarlier(channelId),
  });
  const isLoaded = data !== undefined;
  useEffect(() => (isLoaded ? chat?.follow(channelId) : undefined), [chat, channelId, isLoaded]);
  const pending = useStore(chat?.pending ?? NO_MESSAGES);
  const typing = useStore(chat?.typing ?? NO_TYPISTS);
  const wanted = useStore(chat?.wanted ?? NO_REACTIONS);
  const messages = useMemo(() => data && withWanted(data.messages, wanted), [data, wanted]);
  const refused = useStore(chat?.refused ?? NOTHING_REFUSED);
  return {
    messages,
    pending: pending.filter((one) => one.channelId === channelId),
    typing: typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    error: error ?? earlier.error ?? (refused?.channelId === channelId ? refused.error : null),
    isLive: useStore(chat?.isLive ?? NEVER),
    hasEarlier: data?.nextToken !== undefined,
    isLoadingEarlier: earlier.isPending,
    loadEarlier: () => earlier.mutateAsync(),
    send: (content, more) => chat?.send({ ...more, channelId, content }),
    toggleReaction: (messageId, key) => chat?.toggleReaction(channelId, messageId, key),
    sayTyping: () => chat?.sayTyping(channelId),
    markRead: () => chat?.markRead(channelId),
  };
}
