import type { ChatChange } from './chat-types.js';

/** Most deleted messages that are remembered: more than may be on their way. */
const DELETED = 1000;

/** The ids of messages that were deleted: a late acknowledgement still has them. */
export function createDeletedMessages() {
  const ids = new Set<string>();
  return {
    has: (messageId: string) => ids.has(messageId),
    hear(event: ChatChange): void {
      if (event.type === 'message.updated') ids.delete(event.message.id);
      if (event.type === 'message.deleted') ids.add(event.messageId);
      const [oldest = ''] = ids;
      if (ids.size > DELETED) ids.delete(oldest);
    },
  };
}
