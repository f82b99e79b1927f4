import { admin, anyOf, router, self } from '@tandem/core';
import { requestFactsOf } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { identityInput } from '../identities/identities.schemas.js';
import { actionRoute } from '../shared/record-routes.js';

const account = { one: 'account', idInput: identityInput, errors: identityErrors };

/** The account routes of the spec ("Authentication service"): activation and deactivation. */
export function createAccountsRouter(identities: IdentitiesService) {
  return router({
    activate: actionRoute(account, 'POST /auth/activate', 'activate', {
      summary: 'Activate a deactivated account',
      errors: [identityErrors.erasing],
      allow: [admin],
    }).mutation(({ ctx, input }) => identities.activate(input.identityId, requestFactsOf(ctx))),

    deactivate: actionRoute(account, 'POST /auth/deactivate', 'deactivate', {
      summary: 'Deactivate an account and end its sessions',
      allow: [anyOf(admin, self('identityId'))],
    }).mutation(({ ctx, input }) => identities.deactivate(input.identityId, requestFactsOf(ctx))),
  });
}
