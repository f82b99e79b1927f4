import { admin, anyOf, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { listRoute } from '../shared/record-routes.js';
import { eventList, identityEventList } from './audit.schemas.js';
import type { AuditService } from './audit.service.js';

const event = { many: 'security events' };

/** The audit trail for admins, and each identity's own part of it; part of the service `auth`. */
export function createAuditRouter(audit: AuditService) {
  return router({
    events: listRoute(event, 'GET /auth/events', eventList, { allow: [admin] }).query(({ ctx, input }) =>
      audit.list(askedBy(ctx, input)),
    ),

    identityEvents: listRoute(event, 'GET /auth/{identityId}/events', identityEventList, {
      summary: 'List the security events about an identity, newest first',
      allow: [anyOf(admin, self('identityId'))],
    }).query(({ ctx, input }) => audit.listFor(input.identityId, askedBy(ctx, input))),
  });
}
