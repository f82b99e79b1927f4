import { authenticatedRoute, notGuest, router } from '@tandem/core';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import { reactionInput } from './reactions.schemas.js';
import type { ReactionsService } from './reactions.service.js';

/** Routes of reactions (decisions C3). */
export function createReactionsRouter(reactions: ReactionsService, rules: ChatRules) {
  const allow = [notGuest, rules.speakerOfMessage] as const;
  return router({
    addReaction: authenticatedRoute('PUT /messages/{messageId}/reactions/{key}', {
      status: 204,
      summary: 'React to a message with an emoji or a word',
      failure: 'Failed to create chat message reaction',
      errors: [errors.messageNotFound, errors.tooManyReactions, errors.tooManyReacting],
      allow,
    })
      .input(reactionInput)
      .mutation(({ ctx, input }) => reactions.add({ ...input, identityId: ctx.identity.id })),

    removeReaction: authenticatedRoute('DELETE /messages/{messageId}/reactions/{key}', {
      status: 204,
      summary: 'Take a reaction of the caller back',
      failure: 'Failed to delete chat message reaction',
      allow,
    })
      .input(reactionInput)
      .mutation(({ ctx, input }) => reactions.remove({ ...input, identityId: ctx.identity.id })),
  });
}
