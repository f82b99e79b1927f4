import type { ChatEvent, ChatServerFrame } from './router-types.js';

export type { ChatEvent };
/** A message of a channel. */
export type ChatMessage = Extract<ChatEvent, { type: 'message.created' }>['message'];
/** A stream's report of a refused frame: with `retry`, the same frame may be accepted later. */
export type StreamError = Extract<ChatServerFrame, { type: 'error' }>;
