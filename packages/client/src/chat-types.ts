import type { ChatEvent, ChatServerFrame } from './router-types.js';

export type { ChatEvent };
/** An event that may lack its number, as one of a message that was just sent. */
export type ChatChange<Event = ChatEvent> = Event extends ChatEvent ? Omit<Event, 'change'> & { change?: number } : never;
/** A message as events have it, the same for all readers: nobody's reactions are `mine`. */
export type SentMessage = Extract<ChatEvent, { type: 'message.created' }>['message'];
/** A message of a channel. */
export type ChatMessage = Extract<ChatServerFrame, { type: 'ack' }>['message'] & Pick<SentMessage, 'sender'>;
/** What people react to a message with. */
export type Reaction = ChatMessage['reactions'][number];
/** A change of one's own channels: one has come or gone, or what is unread in one. */
export type OwnEvent = Extract<ChatServerFrame, { type: 'channel.added' | 'channel.removed' | 'unread' }>;
/** A stream's report of a refused frame: with `retry`, the same frame may be accepted later. */
export type StreamError = Extract<ChatServerFrame, { type: 'error' }>;
