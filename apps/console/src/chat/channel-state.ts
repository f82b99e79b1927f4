import type { ChatEvent, ChatMessage, RouterOutputs } from '@tandem/client';

/** A channel of the signed-in identity, with its read position. */
export type Channel = RouterOutputs['chat']['listChannels']['data'][number];

/** Messages of a channel, oldest first. */
export interface Messages {
  messages: ChatMessage[];
  /** For earlier messages; absent where there are none. */
  nextToken?: string | undefined;
}

/** Inserts a message in order, replacing an earlier version. */
export function withMessage({ messages, ...rest }: Messages, message: ChatMessage): Messages {
  const others = messages.filter(({ id }) => id !== message.id);
  return { ...rest, messages: [...others, message].sort((one, other) => one.seq - other.seq) };
}

/** Applies an event to the shown messages. */
export function applyToMessages(shown: Messages, event: ChatEvent): Messages {
  switch (event.type) {
    case 'message.created':
      return withMessage(shown, event.message);
    case 'message.updated': {
      const isShown = shown.messages.some(({ id }) => id === event.message.id);
      return isShown ? withMessage(shown, event.message) : shown;
    }
    case 'message.deleted':
      return { ...shown, messages: shown.messages.filter(({ id }) => id !== event.messageId) };
    default:
      return shown;
  }
}

/** Number of unread messages. */
export function unreadOf({ lastSeq = 0, readSeq = 0 }: Channel): number {
  return Math.max(0, lastSeq - readSeq);
}

/** A loaded channel, with newer facts from events that came since it was requested. */
export function upToDate(loaded: Channel, known: Channel | undefined): Channel {
  if (!known) return loaded;
  const { lastSeq = 0, readSeq = 0, lastMessage } = known;
  const isBehind = lastSeq > (loaded.lastSeq ?? 0);
  return { ...loaded, ...(isBehind && { lastSeq, lastMessage }), readSeq: Math.max(readSeq, loaded.readSeq ?? 0) };
}

/** Applies an event to a channel, for this reader. */
export function applyToChannel(channel: Channel, event: ChatEvent, readerId: string): Channel {
  switch (event.type) {
    case 'message.created': {
      const { message } = event;
      return message.seq <= (channel.lastSeq ?? 0) ? channel : { ...channel, lastSeq: message.seq, lastMessage: message };
    }
    case 'read':
      return event.identityId === readerId ? { ...channel, readSeq: Math.max(channel.readSeq ?? 0, event.seq) } : channel;
    case 'channel.updated':
      return { ...channel, ...event.channel };
    default:
      return channel;
  }
}

/** Sorted by last message, newest first. */
export function inOrder(channels: readonly Channel[]): Channel[] {
  const at = ({ lastMessage, createdAt }: Channel) => lastMessage?.createdAt ?? createdAt;
  return channels.toSorted((one, other) => at(other).localeCompare(at(one)));
}
