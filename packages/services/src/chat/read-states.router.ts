import { authenticatedRoute, router, self } from '@tandem/core';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import { ReadStateSchema, markReadInput, readStateInput } from './read-states.schemas.js';
import type { ReadStatesService } from './read-states.service.js';

/** Read state routes (decisions S3). */
export function createReadStatesRouter(readStates: ReadStatesService, rules: ChatRules) {
  return router({
    readState: authenticatedRoute('GET /channels/{channelId}/read-state', {
      summary: 'Show how far the caller has read in a channel',
      failure: 'Failed to find channel read state',
      allow: [rules.channelExists, rules.member],
    })
      .input(readStateInput)
      .output(ReadStateSchema)
      .query(({ ctx, input }) => readStates.get(input.channelId, ctx.identity.id)),

    markRead: authenticatedRoute('PUT /channels/{channelId}/read-state', {
      status: 204,
      summary: 'Mark the messages of a channel read, up to and including one',
      failure: 'Failed to update channel read state',
      errors: [errors.lastReadMessageNotFound],
      allow: [rules.channelExists, rules.member, self('identityId')],
    })
      .input(markReadInput)
      .mutation(({ input: { channelId, identityId, lastReadMessageId } }) =>
        readStates.markRead({ channelId, identityId, messageId: lastReadMessageId }),
      ),
  });
}
