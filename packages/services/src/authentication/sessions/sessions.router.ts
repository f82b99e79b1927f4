import { admin, anyOf, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { requestFactsOf } from '../../audit/request-facts.js';
import { listRoute, removeRoute } from '../../shared/record-routes.js';
import { sessionErrors as errors } from './sessions.errors.js';
import { sessionInput, sessionList } from './sessions.schemas.js';
import type { ShownSessionsService } from './shown-sessions.service.js';

const session = { one: 'session', many: 'sessions', idInput: sessionInput, errors };

/** The session routes of the service `auth`: list and end. */
export function createSessionsRouter(shownSessions: ShownSessionsService) {
  return router({
    sessions: listRoute(session, 'GET /auth/{identityId}/sessions', sessionList, {
      summary: 'List the live sessions of an identity, newest first',
      allow: [anyOf(admin, self('identityId'))],
    }).query(({ ctx, input }) => shownSessions.list(input.identityId, ctx.identity.sessionId, askedBy(ctx, input))),

    deleteSession: removeRoute(session, 'DELETE /auth/{identityId}/sessions/{sessionId}', {
      summary: 'End one session of an identity',
      allow: [anyOf(admin, self('identityId'))],
    }).mutation(({ ctx, input }) => shownSessions.end(input.identityId, input.sessionId, requestFactsOf(ctx))),
  });
}
