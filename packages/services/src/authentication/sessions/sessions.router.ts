import { admin, anyOf, authenticatedRoute, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { requestFactsOf } from '../../audit/request-facts.js';
import { sessionErrors } from './sessions.errors.js';
import { sessionInput, sessionList } from './sessions.schemas.js';
import type { ShownSessionsService } from './shown-sessions.service.js';

/** The session routes of the service `auth`: list and end. */
export function createSessionsRouter(shownSessions: ShownSessionsService) {
  return router({
    sessions: authenticatedRoute('GET /auth/{identityId}/sessions', {
      summary: 'List the live sessions of an identity, newest first',
      failure: 'Failed to find sessions',
      errors: [listErrors.invalidNextToken],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(sessionList.input)
      .output(sessionList.output)
      .query(({ ctx, input }) => shownSessions.list(input.identityId, ctx.identity.sessionId, askedBy(ctx, input))),

    deleteSession: authenticatedRoute('DELETE /auth/{identityId}/sessions/{sessionId}', {
      status: 204,
      summary: 'End one session of an identity',
      failure: 'Failed to delete session',
      errors: [sessionErrors.notFound],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(sessionInput)
      .mutation(({ ctx, input }) => shownSessions.end(input.identityId, input.sessionId, requestFactsOf(ctx))),
  });
}
