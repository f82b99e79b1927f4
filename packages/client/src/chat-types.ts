import type { ChatEvent, ChatServerFrame } from '@tandem/services';

export type { ChatEvent };
/** A message of a channel. */
export type ChatMessage = Extract<ChatEvent, { type: 'message.created' }>['message'];
/** How a stream says that a frame was refused: with `retry`, the same may be taken later. */
export type StreamError = Extract<ChatServerFrame, { type: 'error' }>;
