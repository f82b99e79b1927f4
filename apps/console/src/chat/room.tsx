import type { ChannelSummary, ChatMessage } from '@tandem/client';
import { createContext, use } from 'react';
import type { Rights } from './members.js';

/** What the messages of a channel have in common. */
export interface Room {
  channel: ChannelSummary;
  rights: Rights;
  pinned: ReadonlySet<string>;
  /** The message of which the text is being changed. */
  editing: string | undefined;
  edit(messageId: string | undefined): void;
  /** Answers a message in the composer; undefined where all that is written is an answer already. */
  reply: ((message: ChatMessage) => void) | undefined;
  /** Shows a message with its replies beside the conversation. */
  openThread(messageId: string): void;
  /** Shows a message in its place among the others. */
  goTo(seq: number): void;
  /** Called with what one has deleted. */
  onDeleted(message: ChatMessage): void;
}

export const RoomContext = createContext<Room | undefined>(undefined);

/** @throws Error outside a conversation */
export function useRoom(): Room {
  const room = use(RoomContext);
  if (!room) throw new Error('there is no conversation here');
  return room;
}
