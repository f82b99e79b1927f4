import { authenticatedRoute, router, self } from '@tandem/core';
import { getRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import { ReadStateSchema, markReadInput, readStateInput, readStateRelations } from './read-states.schemas.js';
import type { ReadStatesService } from './read-states.service.js';

const readState = {
  one: 'channel read state',
  output: ReadStateSchema,
  list: { relations: readStateRelations },
  idInput: readStateInput,
  errors: { notFound: errors.channelDoesNotExist },
};

/** Read state routes (decisions S3). */
export function createReadStatesRouter(readStates: ReadStatesService, rules: ChatRules) {
  return router({
    readState: getRoute(readState, 'GET /channels/{channelId}/read-state', {
      summary: 'Show how far the caller has read in a channel',
      failure: 'Failed to find channel read state',
      mayBeUnchanged: false,
      allow: [rules.channelExists, rules.member],
    }).query(({ ctx, input }) => readStates.get(input.channelId, ctx.identity.id, input)),

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
