import type { ChatEvent } from '@tandem/services';

export type { ChatEvent };
/** A message of a channel. */
export type ChatMessage = Extract<ChatEvent, { type: 'message.created' }>['message'];
