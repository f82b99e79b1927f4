import { applyToMessages } from './chat-state.js';
import type { ChatChange, ChatMessage } from './chat-types.js';

/**
 * Pinned messages, as `chat.listPins` gives them, after an event of their channel. A message that was pinned meanwhile
 * is not in the event: load them again after `pin.created`.
 */
export function applyToPins<Pinned extends ChatMessage>(pinned: readonly Pinned[], event: ChatChange): readonly Pinned[] {
  if (event.type === 'pin.deleted') return pinned.filter(({ id }) => id !== event.messageId);
  // a message that is not pinned stays away; what is pinned keeps its place, and when it was pinned
  const one = (known: Pinned): Pinned[] => {
    const [now] = applyToMessages({ messages: [known] }, event).messages.filter(({ id }) => id === known.id);
    return now ? [{ ...known, ...now }] : [];
  };
  return pinned.flatMap(one);
}
