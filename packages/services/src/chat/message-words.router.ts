import { router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { listRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import type { ChatService } from './chat.service.js';
import { messageVersionList } from './message-versions.js';
import { replyList } from './messages.schemas.js';

const message = { many: 'messages' };

/** Routes of what belongs to a message: its replies and its earlier texts (decisions C3). */
export function createMessageWordsRouter({ messages, versions }: Pick<ChatService, 'messages' | 'versions'>, rules: ChatRules) {
  return router({
    listReplies: listRoute(message, 'GET /messages/{messageId}/replies', replyList, {
      summary: 'List the replies to a message, newest first',
      failure: 'Failed to find chat messages.',
      errors: [errors.messageNotFound],
      allow: [rules.memberOfAnyMessage],
    }).query(({ ctx, input }) => messages.listReplies(input.messageId, askedBy(ctx, input))),

    listMessageVersions: listRoute(message, 'GET /messages/{messageId}/versions', messageVersionList, {
      summary: 'List the texts that a message had before its present one, oldest first',
      failure: 'Failed to find versions of the chat message',
      errors: [errors.messageNotFound],
      allow: [rules.memberOfAnyMessage],
    }).query(({ ctx, input }) => versions.list(input.messageId, askedBy(ctx, input))),
  });
}
