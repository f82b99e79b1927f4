import { admin, anyOf, authenticatedRoute, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { eventList, identityEventList } from './audit.schemas.js';
import type { AuditService } from './audit.service.js';

/** The audit trail for admins, and each identity's own part of it; part of the service `auth`. */
export function createAuditRouter(audit: AuditService) {
  return router({
    events: authenticatedRoute('GET /auth/events', {
      summary: 'List security events, newest first',
      failure: 'Failed to find security events',
      errors: [listErrors.invalidNextToken],
      allow: [admin],
    })
      .input(eventList.input)
      .output(eventList.output)
      .query(({ ctx, input }) => audit.list(askedBy(ctx, input))),

    identityEvents: authenticatedRoute('GET /auth/{identityId}/events', {
      summary: 'List the security events about an identity, newest first',
      failure: 'Failed to find security events',
      errors: [listErrors.invalidNextToken],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(identityEventList.input)
      .output(identityEventList.output)
      .query(({ ctx, input }) => audit.listFor(input.identityId, askedBy(ctx, input))),
  });
}
