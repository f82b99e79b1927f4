import type { ChatChange, ChatMessage, OwnEvent, Reaction, SentMessage } from './chat-types.js';
import type { RouterOutputs } from './router-types.js';

/** A channel of the signed-in identity, with its last message and how far it was read. */
export type ChannelSummary = RouterOutputs['chat']['listChannels']['data'][number];

/** Messages of a channel, oldest first. */
export interface LoadedMessages {
  messages: readonly ChatMessage[];
  /** For earlier messages; absent where there are none. */
  nextToken?: string | undefined;
  /** Deleted ones with reactions of the reader, which no event tells when they are restored. */
  gone?: readonly ChatMessage[];
}

/** Messages of a channel around one of them, oldest first. */
export interface MessageWindow {
  messages: readonly ChatMessage[];
  hasEarlier: boolean;
  /** Whether there are later ones, which new messages come after. */
  hasLater: boolean;
  gone?: readonly ChatMessage[];
}

/** A message of an event, with what only its earlier version says: its sender, and the reader's own reactions. */
function after(known: ChatMessage | null | undefined, message: SentMessage): ChatMessage {
  const { sender, reactions = [] } = known?.id === message.id ? known : {};
  const isMine = (key: string) => reactions.some((one) => one.mine && one.key === key);
  return {
    ...(sender !== undefined && { sender }),
    ...message,
    reactions: message.reactions.map((one) => ({ mine: isMine(one.key), ...one })),
  };
}

/** Inserts a message in order, replacing an earlier version of it. */
function withMessage({ messages, ...rest }: LoadedMessages, message: SentMessage): LoadedMessages {
  const known = [...messages, ...(rest.gone ?? [])].find(({ id }) => id === message.id);
  const others = messages.filter((one) => one !== known);
  return { ...rest, messages: [...others, after(known, message)].sort((one, other) => one.seq - other.seq) };
}

type Reacted = Extract<ChatChange, { type: 'reaction.created' | 'reaction.deleted' }>;
function withReaction(reactions: Reaction[], { type, key, count, identityId }: Reacted, readerId?: string): Reaction[] {
  const known = reactions.find((one) => one.key === key);
  if (count === 0) return reactions.filter((one) => one !== known);
  const mine = identityId === readerId ? type === 'reaction.created' : known?.mine === true;
  const one = { key, count, mine };
  return known ? reactions.map((other) => (other === known ? one : other)) : [...reactions, one];
}

/**
 * Messages after an event of their channel. Applying it again changes nothing.
 * @param readerId whose reactions are `mine`
 */
export function applyToMessages(loaded: LoadedMessages, event: ChatChange, readerId?: string): LoadedMessages {
  const { messages } = loaded;
  const change = (messageId: string, how: (message: ChatMessage) => ChatMessage) => ({
    ...loaded,
    messages: messages.map((message) => (message.id === messageId ? how(message) : message)),
  });
  switch (event.type) {
    case 'message.created':
      return withMessage(loaded, event.message);
    case 'message.updated': {
      const [first] = messages;
      // a restored message may be earlier than those that are loaded
      const isLoaded = loaded.nextToken === undefined || (first && first.seq <= event.message.seq);
      return isLoaded ? withMessage(loaded, event.message) : loaded;
    }
    case 'message.deleted': {
      const isGone = ({ id }: ChatMessage) => id === event.messageId;
      const gone = messages.filter((one) => isGone(one) && one.reactions.some(({ mine }) => mine));
      const left = messages.filter((one) => !isGone(one));
      return { ...loaded, messages: left, ...(gone.length > 0 && { gone: [...gone, ...(loaded.gone ?? [])] }) };
    }
    case 'attachment.created':
      return change(event.messageId, (message) => ({
        ...message,
        attachments: [...message.attachments.filter(({ id }) => id !== event.attachment.id), event.attachment],
      }));
    case 'attachment.deleted':
      return change(event.messageId, (message) => ({
        ...message,
        attachments: message.attachments.filter(({ id }) => id !== event.attachmentId),
      }));
    case 'reaction.created':
    case 'reaction.deleted':
      return change(event.messageId, (message) => ({ ...message, reactions: withReaction(message.reactions, event, readerId) }));
    default:
      return loaded;
  }
}

/** A window after an event of its channel, likewise. */
export function applyToWindow(window: MessageWindow, event: ChatChange, readerId?: string): MessageWindow {
  const last = window.messages.at(-1)?.seq ?? 0;
  const isBehind = window.hasLater && 'message' in event && event.message.seq > last;
  if (isBehind) return window;
  const { messages, gone } = window;
  const loaded = { messages, ...(gone && { gone }), ...(window.hasEarlier && { nextToken: '' }) };
  const { nextToken: _, ...applied } = applyToMessages(loaded, event, readerId);
  return { ...window, ...applied };
}

/** The newest messages, just loaded, after the known earlier ones, unless some are missing between them. */
export function joinNewest(known: LoadedMessages | undefined, newest: LoadedMessages): LoadedMessages {
  const [first] = newest.messages;
  const last = known?.messages.at(-1);
  const isAll = newest.nextToken === undefined;
  if (isAll || !known || !first || !last || last.seq < first.seq - 1) return newest;
  const earlier = known.messages.filter(({ seq }) => seq < first.seq);
  return earlier.length === 0 ? newest : { ...known, messages: [...earlier, ...newest.messages] };
}

/**
 * The known messages after earlier ones, just loaded.
 * @param nextToken with which they were loaded: they do not fit if others were loaded in the meantime
 */
export function joinEarlier(known: LoadedMessages, earlier: LoadedMessages, nextToken: string): LoadedMessages {
  if (known.nextToken !== nextToken) return known;
  const [first] = known.messages;
  const before = first ? earlier.messages.filter(({ seq }) => seq < first.seq) : earlier.messages;
  return { ...known, nextToken: earlier.nextToken, messages: [...before, ...known.messages] };
}

function counted(channel: ChannelSummary): ChannelSummary {
  const { lastSeq = 0, readSeq = 0 } = channel;
  return { ...channel, unread: Math.max(0, lastSeq - readSeq) };
}

/**
 * A channel after an event. Only the server knows which message is the last one after a deletion: load the channels
 * again.
 * @param readerId whose channel it is
 */
export function applyToChannel(channel: ChannelSummary, event: ChatChange, readerId: string): ChannelSummary {
  const { change = 0 } = event;
  const after = shownAfter(channel, event, readerId);
  return change > (channel.lastChange ?? 0) ? { ...after, lastChange: change } : after;
}

function shownAfter(channel: ChannelSummary, event: ChatChange, readerId: string): ChannelSummary {
  switch (event.type) {
    case 'message.created': {
      const { message } = event;
      const { lastSeq = 0, lastMessage } = channel;
      // not the last number: an `unread` may have told it before
      if (message.seq <= (lastMessage?.seq ?? 0)) return channel;
      return counted({ ...channel, lastSeq: Math.max(lastSeq, message.seq), lastMessage: after(null, message) });
    }
    case 'message.updated': {
      const { message } = event;
      // a restored message may be the last one again
      return message.seq < (channel.lastMessage?.seq ?? 0)
        ? channel
        : { ...channel, lastMessage: after(channel.lastMessage, message) };
    }
    case 'attachment.created':
    case 'attachment.deleted':
    case 'reaction.created':
    case 'reaction.deleted': {
      if (!channel.lastMessage) return channel;
      const [lastMessage] = applyToMessages({ messages: [channel.lastMessage] }, event, readerId).messages;
      return { ...channel, lastMessage };
    }
    case 'read':
      return event.identityId === readerId ? readUpTo(channel, event.seq) : channel;
    case 'channel.updated':
      return { ...channel, ...event.channel };
    default:
      return channel;
  }
}

/** A channel after its reader has read up to this number. */
export function readUpTo(channel: ChannelSummary, seq: number): ChannelSummary {
  return counted({ ...channel, readSeq: Math.max(channel.readSeq ?? 0, seq) });
}

/** Channels that were just loaded, with what events have told about them since they were asked for. */
export function joinChannels(known: readonly ChannelSummary[] | undefined, loaded: readonly ChannelSummary[]): ChannelSummary[] {
  const before = new Map(known?.map((channel) => [channel.id, channel]));
  return loaded.map((channel) => {
    const { lastSeq = 0, readSeq = 0, lastMessage } = before.get(channel.id) ?? {};
    if (lastSeq <= (channel.lastSeq ?? 0)) return readUpTo(channel, readSeq);
    const isNewer = (lastMessage?.seq ?? 0) > (channel.lastMessage?.seq ?? 0);
    return readUpTo({ ...channel, lastSeq, ...(isNewer && { lastMessage }) }, readSeq);
  });
}

/**
 * Channels after an event of one's own. Load them again after `channel.added`: only the server knows its last message.
 */
export function applyToChannels(channels: readonly ChannelSummary[], event: OwnEvent): ChannelSummary[] {
  if (event.type === 'channel.removed') return channels.filter(({ id }) => id !== event.channelId);
  if (event.type === 'channel.added') {
    const { channel } = event;
    return [
      ...channels.filter(({ id }) => id !== channel.id),
      { ...channel, lastSeq: 0, readSeq: 0, unread: 0, lastMessage: null },
    ];
  }
  const { channelId, unread, lastSeq } = event;
  const readSeq = lastSeq - unread;
  return channels.map((one) =>
    one.id === channelId ? readUpTo({ ...one, lastSeq: Math.max(one.lastSeq ?? 0, lastSeq) }, readSeq) : one,
  );
}

/** Channels by their last message, newest first. */
export function newestFirst(channels: readonly ChannelSummary[]): ChannelSummary[] {
  const at = ({ lastMessage, createdAt }: ChannelSummary) => lastMessage?.createdAt ?? createdAt;
  return channels.toSorted((one, other) => at(other).localeCompare(at(one)));
}
