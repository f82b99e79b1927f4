import {
  SenderGone,
  applyToChannel,
  applyToChannels,
  applyToMessages,
  createChatClient,
  createMessageLoader,
  joinChannels,
  joinEarlier,
  joinNewest,
  randomId,
  readUpTo,
  type ChannelSummary,
  type ChatClient,
  type ChatChange,
  type LoadedMessages,
  type MessageToSend,
} from '@tandem/client';
import type { LiveOptions } from './live.js';
import { createOutgoing } from './outgoing.js';
import { createReactions, withWanted } from './reactions.js';
import { createShared } from './shared.js';
import { createStore } from './store.js';
import { keyFor, loadAgain } from './tandem.js';
import { createTyping } from './typing.js';

/** Most channels in the list. */
const CHANNELS = 100;
/** Messages come with the names and pictures of their senders, so that nobody has to ask for them. */
const SENDER: ['sender'] = ['sender'];

interface Followed {
  users: number;
  /** Undefined once the server has ended it. */
  stop: (() => number | undefined) | undefined;
}
type Stream = ChatClient & { followed: Map<string, Followed> };
/** The number of the last message. */
const lastOf = (loaded: LoadedMessages | undefined) => loaded?.messages.at(-1)?.seq ?? 0;
export type ChatLive = ReturnType<typeof createChatLive>;

/** Keeps the loaded channels and messages up to date, and sends. */
export function createChatLive({ url, WebSocket, client, identityId, isCurrent, queries }: LiveOptions) {
  const channelsKey = keyFor(identityId, 'chat.listChannels', 'live');
  const messagesKey = (channelId: string) => keyFor(identityId, 'chat.listMessages', { channelId, live: true });
  const isLive = createStore(false);
  const outgoing = createOutgoing(send);
  const typing = createTyping();
  const loader = createMessageLoader(client, { expand: SENDER, readerId: identityId });

  const loadChannelsAgain = () => loadAgain(queries, channelsKey);
  const loadedMessages = (channelId: string) => queries.getQueryData<LoadedMessages>(messagesKey(channelId));
  function changeMessages(channelId: string, how: (loaded: LoadedMessages) => LoadedMessages): void {
    queries.setQueryData<LoadedMessages>(messagesKey(channelId), (loaded) => loaded && how(loaded));
  }
  function changeChannel(channelId: string, how: (channel: ChannelSummary) => ChannelSummary): void {
    queries.setQueryData<ChannelSummary[]>(channelsKey, (all) => all?.map((one) => (one.id === channelId ? how(one) : one)));
  }

  const reactions = createReactions(async (own) => {
    const { channelId, messageId, key, isWanted } = own;
    if (!isCurrent()) throw new SenderGone('not sent: its sender has signed out');
    const { addReaction, removeReaction } = client.api.chat;
    await (isWanted ? addReaction : removeReaction).mutate({ messageId, key });
    // the stream may tell of it later
    changeMessages(channelId, ({ messages, ...rest }) => ({ ...rest, messages: withWanted(messages, [own]) }));
  });

  function hear(event: ChatChange): void {
    const { channelId } = event;
    loader.hear(event);
    const { messages = [], nextToken } = loadedMessages(channelId) ?? {};
    const [first] = messages;
    const isRestored =
      event.type === 'message.updated' &&
      messages.every(({ id }) => id !== event.message.id) &&
      // else it is earlier than those that are loaded
      (nextToken === undefined || (first && first.seq <= event.message.seq));
    changeChannel(channelId, (channel) => applyToChannel(channel, event, identityId));
    changeMessages(channelId, (loaded) => applyToMessages(loaded, event, identityId));
    if (event.type === 'message.deleted') {
      const { data, fetchStatus } = queries.getQueryState<ChannelSummary[]>(channelsKey) ?? {};
      const isLast = data?.some(({ lastMessage }) => lastMessage?.id === event.messageId);
      // in an answer under way it may be
      if (isLast || fetchStatus === 'fetching') void loadChannelsAgain();
    }
    // the event does not say which reactions are one's own
    if (isRestored && event.message.reactions.length > 0) void loadAgain(queries, messagesKey(channelId));
    if (event.type.startsWith('pin.')) void loadAgain(queries, keyFor(identityId, 'chat.listPins'));
    if (event.type === 'typing' && event.identityId !== identityId) typing.start(channelId, event.identityId);
    if (event.type !== 'message.created') return;
    typing.stop(channelId, event.message.senderId);
    if (event.message.clientId !== null) outgoing.remove(event.message.clientId);
  }

  const shared = createShared((): Stream => {
    // in a session that has ended
    reactions.refused.set(undefined);
    const stream = createChatClient({
      url,
      client,
      WebSocket,
      onState: (state) => isLive.set(state === 'up'),
      onOutgoing(one) {
        // a load under way may lack it, and the stream may tell of it later
        if (one.state === 'sent' && !loader.wasDeleted(one.message.id))
          hear({ type: 'message.created', channelId: one.channelId, message: one.message });
        outgoing.hear(one);
      },
    });
    const followed = new Map<string, Followed>();
    return {
      ...stream,
      followed,
      close() {
        // at once: the next stream may follow them in the same commit
        for (const [channelId, one] of followed) stopFollowing(channelId, one);
        followed.clear();
        stream.close();
        isLive.set(false);
        typing.clear();
      },
    };
  }, isCurrent);

  /** Sends a message, also after the component that sends it has gone. Shown as pending until it is stored, or as failed. */
  function send(message: MessageToSend): void {
    const named: MessageToSend & { clientId: string } = { clientId: randomId(), ...message };
    const [stream, release] = shared.use();
    void stream
      .send(named)
      .catch((cause: unknown) => outgoing.refuse(named, cause))
      .then(release);
  }

  /** The last change that the loaded messages of channels contain, while nobody follows them. */
  const lastChanges = new Map<string, number>();
  /** The last message of each channel that was reported as read. */
  const reported = new Map<string, string>();
  /** Channels with messages of before a time of which not all was told. */
  const outdated = new Set<string>();
  /** Follow channels again that have ended while they are shown: one may be let in again. */
  const ended = new Map<string, (sinceSeq: number) => void>();
  function startFollowing(stream: Stream, channelId: string, sinceSeq: number | undefined, one: Followed): void {
    const sinceChange = loadedMessages(channelId) && lastChanges.get(channelId);
    let isSubscribed = false;
    ended.delete(channelId);
    one.stop = stream.follow(
      channelId,
      {
        onEvent: hear,
        onSubscribed({ isResumed, unread, lastSeq, lastChange }) {
          const read = reported.get(channelId);
          // a report on an earlier stream may be lost
          if (read && unread > 0 && !isSubscribed) stream.markRead(channelId, read);
          const channels = queries.getQueryData<ChannelSummary[]>(channelsKey);
          const { lastChange: change = lastChange, lastSeq: seq = 0 } = channels?.find(({ id }) => id === channelId) ?? {};
          changeChannel(channelId, (channel) => readUpTo(channel, lastSeq - unread));
          // from now on all is told, after a drop too: what was changed or deleted before is not
          if (!isResumed) {
            // since the list was loaded only messages are replayed
            if (sinceSeq === undefined || lastChange - change > lastSeq - seq) void loadChannelsAgain();
            if (isSubscribed) outdated.add(channelId);
            void loadAgain(queries, messagesKey(channelId));
          }
          isSubscribed = true;
        },
        onEnd() {
          one.stop = undefined;
          lastChanges.delete(channelId);
          outdated.add(channelId);
          // where following alone is refused, as beyond a limit, that would go on for ever
          if (isSubscribed) ended.set(channelId, (seq) => startFollowing(stream, channelId, seq, one));
          void loadChannelsAgain();
          void loadAgain(queries, messagesKey(channelId));
        },
      },
      { sinceSeq, sinceChange, expand: SENDER },
    );
  }
  function stopFollowing(channelId: string, { stop }: Followed): void {
    const change = stop?.();
    ended.delete(channelId);
    lastChanges.delete(channelId);
    // what was to be loaded again may lack what happened before
    if (change !== undefined && queries.getQueryState(messagesKey(channelId))?.isInvalidated === false)
      lastChanges.set(channelId, change);
    else outdated.add(channelId);
  }

  const own = createShared(() => {
    const [stream, release] = shared.use();
    const stop = stream.followOwn({
      onEvent(event) {
        // a followed channel's count changes together with its messages
        if (event.type === 'unread' && stream.followed.get(event.channelId)?.stop) return;
        // followed without knowing its last message, it would be told from its beginning
        if (event.type === 'channel.added') void loadChannelsAgain();
        else queries.setQueryData<readonly ChannelSummary[]>(channelsKey, (all) => all && applyToChannels(all, event));
      },
      // what came and went before is not told
      onSubscribed: () => void loadChannelsAgain(),
    });
    return {
      close() {
        stop();
        release();
      },
    };
  }, isCurrent);

  return {
    isLive,
    channelsKey,
    messagesKey,
    pending: outgoing.messages,
    typing: typing.people,
    wanted: reactions.wanted,
    refused: reactions.refused,
    close() {
      own.close();
      shared.close();
    },

    async loadChannels(signal: AbortSignal): Promise<ChannelSummary[]> {
      const loaded = await loader.loadChannels(identityId, CHANNELS, { signal });
      return joinChannels(queries.getQueryData<ChannelSummary[]>(channelsKey), loaded);
    },

    async loadMessages(channelId: string, signal: AbortSignal): Promise<LoadedMessages> {
      const newest = await loader.load(channelId, { signal });
      const messages = outdated.delete(channelId) ? newest : joinNewest(loadedMessages(channelId), newest);
      ended.get(channelId)?.(lastOf(messages));
      return messages;
    },

    async loadEarlier(channelId: string): Promise<void> {
      const nextToken = loadedMessages(channelId)?.nextToken;
      if (nextToken === undefined) return;
      const earlier = await loader.load(channelId, { nextToken });
      const join = () => changeMessages(channelId, (loaded) => joinEarlier(loaded, earlier, nextToken));
      join();
      const queryKey = messagesKey(channelId);
      if (queries.isFetching({ queryKey }) === 0) return;
      // a load that ends at this moment takes their place
      await queries.refetchQueries({ queryKey }, { cancelRefetch: false });
      join();
    },

    /** Follows a channel from its last message in the list, or the last loaded one. @returns a function that ends it */
    follow(channelId: string, listed?: ChannelSummary): () => void {
      const [stream, release] = shared.use();
      const { followed } = stream;
      const one = followed.get(channelId) ?? { users: 0, stop: undefined };
      followed.set(channelId, one);
      // not from the last number, which may have been told before its message; nor from the beginning, where no message can be shown
      const from = listed ? (listed.lastMessage?.seq ?? (listed.lastSeq ? undefined : 0)) : lastOf(loadedMessages(channelId));
      if (!one.stop) startFollowing(stream, channelId, from, one);
      one.users += 1;
      return () => {
        one.users -= 1;
        // the next user may come in the same commit
        queueMicrotask(() => {
          if (one.users > 0 || followed.get(channelId) !== one) return;
          followed.delete(channelId);
          stopFollowing(channelId, one);
        });
        release();
      };
    },

    /** Follows all channels: which there are, and what is unread. @returns a function that ends it */
    followOwn: () => own.use()[1],

    send,

    /** Reacts, or takes it back: shown at once, until the server refuses. */
    toggleReaction(channelId: string, messageId: string, key: string): void {
      const messages = withWanted(loadedMessages(channelId)?.messages ?? [], reactions.wanted.get());
      const shown = messages.find(({ id }) => id === messageId)?.reactions.find((one) => one.key === key);
      void reactions.want({ channelId, messageId, key, isWanted: shown?.mine !== true });
    },

    sayTyping(channelId: string): void {
      const [stream, release] = shared.use();
      typing.report(channelId, stream.typing);
      release();
    },

    /** Marks the loaded messages of a channel read. */
    markRead(channelId: string): void {
      const last = loadedMessages(channelId)?.messages.at(-1);
      if (!last) return;
      const [stream, release] = shared.use();
      reported.set(channelId, last.id);
      stream.markRead(channelId, last.id);
      release();
      changeChannel(channelId, (channel) => readUpTo(channel, last.seq));
    },
  };
}
