import type { EventBus } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import type { FilesService } from '../files/files.service.js';
import { createMemberships } from './memberships.js';
import { createMessageLog } from './message-log.js';
import { createMessagesService } from './messages.service.js';
import { createReadStatesService } from './read-states.service.js';

export type ChatService = ReturnType<typeof createChatService>;

interface ChatOptions {
  storage: Storage;
  bus: EventBus;
  files: FilesService;
}

/** Files that a message may have. */
const ATTACHMENTS_MAX = 20;

/** Channels, their members and their messages. Every change is told to the readers of its channel: see `chat-events.ts`. */
export function createChatService({ storage, bus, files }: ChatOptions) {
  const log = createMessageLog(storage);
  const memberships = createMemberships(storage, log);
  const attachments = files.attachments({ purpose: 'message-attachment', max: ATTACHMENTS_MAX });
  const messages = createMessagesService({ storage, bus, log, memberships, attachments });
  const readStates = createReadStatesService({ storage, bus, memberships });

  return {
    messages,
    readStates,

    // what streams need
    membershipOf: memberships.membershipOf,
    messagesSince: messages.since,
    post: messages.post,
    markRead: readStates.markRead,
  };
}
