import type { ChatEvent, ChatMessage, RouterOutputs } from '@tandem/client';

/** A channel of the signed-in identity, with its last message and how far it was read. */
export type ChannelSummary = RouterOutputs['chat']['listChannels']['data'][number];

/** Loaded messages of a channel, oldest first. */
export interface Messages {
  messages: ChatMessage[];
  /** For earlier messages; absent where there are none. */
  nextToken?: string | undefined;
}

/** Inserts a message in order, instead of an earlier version of it. */
export function withMessage({ messages, ...rest }: Messages, message: ChatMessage): Messages {
  const others = messages.filter(({ id }) => id !== message.id);
  return { ...rest, messages: [...others, message].sort((one, other) => one.seq - other.seq) };
}

/** Applies an event to loaded messages. Applying it again changes nothing. */
export function applyToMessages(loaded: Messages, event: ChatEvent): Messages {
  const change = (messageId: string, how: (message: ChatMessage) => ChatMessage) => ({
    ...loaded,
    messages: loaded.messages.map((message) => (message.id === messageId ? how(message) : message)),
  });
  switch (event.type) {
    case 'message.created':
      return withMessage(loaded, event.message);
    case 'message.updated': {
      const [first] = loaded.messages;
      // a restored message may be earlier than those that are loaded
      return first && first.seq <= event.message.seq ? withMessage(loaded, event.message) : loaded;
    }
    case 'message.deleted':
      return { ...loaded, messages: loaded.messages.filter(({ id }) => id !== event.messageId) };
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
    default:
      return loaded;
  }
}

/** The newest messages as just loaded, after the earlier ones that are known, unless some are missing between them. */
export function joinMessages(known: Messages | undefined, loaded: Messages): Messages {
  const [first] = loaded.messages;
  const last = known?.messages.at(-1);
  if (!known || !first || !last || last.seq < first.seq - 1) return loaded;
  const earlier = known.messages.filter(({ seq }) => seq < first.seq);
  return earlier.length === 0 ? loaded : { messages: [...earlier, ...loaded.messages], nextToken: known.nextToken };
}

/** The number of messages after the last one read. */
export function unreadOf({ lastSeq = 0, readSeq = 0 }: ChannelSummary): number {
  return Math.max(0, lastSeq - readSeq);
}

/** A channel as just loaded, with what events have told since it was asked for. */
export function upToDate(loaded: ChannelSummary, known: ChannelSummary | undefined): ChannelSummary {
  const { lastSeq = 0, readSeq = 0, lastMessage } = known ?? {};
  const isBehind = lastSeq > (loaded.lastSeq ?? 0);
  return { ...loaded, ...(isBehind && { lastSeq, lastMessage }), readSeq: Math.max(readSeq, loaded.readSeq ?? 0) };
}

/** Applies an event to a channel of this reader. */
export function applyToChannel(channel: ChannelSummary, event: ChatEvent, readerId: string): ChannelSummary {
  switch (event.type) {
    case 'message.created': {
      const { message } = event;
      return message.seq <= (channel.lastSeq ?? 0) ? channel : { ...channel, lastSeq: message.seq, lastMessage: message };
    }
    case 'read':
      return event.identityId === readerId ? readUpTo(channel, event.seq) : channel;
    case 'channel.updated':
      return { ...channel, ...event.channel };
    default:
      return channel;
  }
}

export function readUpTo(channel: ChannelSummary, seq: number): ChannelSummary {
  return { ...channel, readSeq: Math.max(channel.readSeq ?? 0, seq) };
}

/** Last message first. */
export function inOrder(channels: readonly ChannelSummary[]): ChannelSummary[] {
  const at = ({ lastMessage, createdAt }: ChannelSummary) => lastMessage?.createdAt ?? createdAt;
  return channels.toSorted((one, other) => at(other).localeCompare(at(one)));
}
