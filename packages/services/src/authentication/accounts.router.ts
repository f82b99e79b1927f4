import { admin, anyOf, authenticatedRoute, router, self } from '@tandem/core';
import { requestFactsOf } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { identityInput } from '../identities/identities.schemas.js';

/** The account routes of the spec ("Authentication service"): activation and deactivation. */
export function createAccountsRouter(identities: IdentitiesService) {
  return router({
    activate: authenticatedRoute('POST /auth/activate', {
      status: 204,
      summary: 'Activate a deactivated account',
      failure: 'Failed to activate account',
      errors: [identityErrors.notFound],
      allow: [admin],
    })
      .input(identityInput)
      .mutation(({ ctx, input }) => identities.activate(input.identityId, requestFactsOf(ctx))),

    deactivate: authenticatedRoute('POST /auth/deactivate', {
      status: 204,
      summary: 'Deactivate an account and end its sessions',
      failure: 'Failed to deactivate account',
      errors: [identityErrors.notFound],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(identityInput)
      .mutation(({ ctx, input }) => identities.deactivate(input.identityId, requestFactsOf(ctx))),
  });
}
