import { admin, anyOf, notGuest, organizationRole, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { requestFactsOf } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import {
  ServiceAccountSchema,
  createServiceAccountInput,
  serviceAccountInput,
  serviceAccountList,
} from '../identities/service-accounts.schemas.js';
import type { ServiceAccountsService } from '../identities/service-accounts.service.js';
import { createRoute, deleteRoute, listRoute } from '../shared/record-routes.js';
import { organizationErrors as errors } from './organizations.errors.js';
import type { OrganizationsService } from './organizations.service.js';
import { MANAGING_ROLES } from './roles.js';

interface ServiceAccountsRouterOptions {
  serviceAccounts: ServiceAccountsService;
  roleOf: OrganizationsService['roleOf'];
}

const account = {
  one: 'service account',
  many: 'service accounts',
  output: ServiceAccountSchema,
  idInput: serviceAccountInput,
  errors: identityErrors,
};

/** The service accounts of an organization. Their keys are made below `/auth`, as those of others. */
export function createServiceAccountsRouter({ serviceAccounts, roleOf }: ServiceAccountsRouterOptions) {
  const manages = anyOf(admin, organizationRole('organizationId', MANAGING_ROLES, roleOf));
  return router({
    createServiceAccount: createRoute(
      account,
      'POST /organizations/{organizationId}/service-accounts',
      createServiceAccountInput,
      {
        errors: [errors.notFound, errors.tooManyMembers],
        allow: [notGuest, manages],
        made: serviceAccounts.made,
      },
    ).mutation(({ ctx, input }) => serviceAccounts.create(input, requestFactsOf(ctx), ctx.newId?.())),

    listServiceAccounts: listRoute(account, 'GET /organizations/{organizationId}/service-accounts', serviceAccountList, {
      errors: [errors.notFound],
      allow: [manages],
    }).query(({ ctx, input }) => serviceAccounts.list(input.organizationId, askedBy(ctx, input))),

    deleteServiceAccount: deleteRoute(account, 'DELETE /organizations/{organizationId}/service-accounts/{identityId}', {
      summary: 'Delete a service account, which ends its API keys',
      allow: [notGuest, manages],
    }).mutation(({ ctx, input }) => serviceAccounts.delete(input.organizationId, input.identityId, requestFactsOf(ctx))),
  });
}
