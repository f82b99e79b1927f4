import { admin, anyOf, router, self, type IdentityTypeIds, type Rule } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { requestFactsOf } from '../audit/request-facts.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { actionRoute, deleteRoute, getRoute, listRoute, patchRoute, restoreRoute } from '../shared/record-routes.js';
import { identityErrors as errors } from './identities.errors.js';
import { IdentitySchema, identityInput, identityList, identityPatchInput } from './identities.schemas.js';
import type { IdentitiesService } from './identities.service.js';

const identity = { one: 'identity', many: 'identities', output: IdentitySchema, idInput: identityInput, errors };

interface IdentitiesRouterOptions {
  identities: IdentitiesService;
  typeIds: IdentityTypeIds;
  /** Needed to change an email. */
  freshProof: Rule;
  /** Clears the failed logins of an address when an admin unlocks its identity. */
  forgetFailedLogins(email: string): Promise<void>;
}

/** The identity routes of the spec ("Other services"). */
export function createIdentitiesRouter({ identities, typeIds, freshProof, forgetFailedLogins }: IdentitiesRouterOptions) {
  const types = Object.values(typeIds) as string[];
  return router({
    list: listRoute(identity, 'GET /identities', identityList, { summary: 'List identities', allow: [admin] }).query(
      ({ ctx, input }) => identities.list(askedBy(ctx, input)),
    ),

    get: getRoute(identity, 'GET /identities/{identityId}', {
      allow: [anyOf(admin, self('identityId'))],
      withoutFactor: 'identityId',
    }).query(({ input }) => identities.get(input.identityId, input)),

    patch: patchRoute(identity, 'PATCH /identities/{identityId}', identityPatchInput(types), {
      errors: [errors.emailTaken, errors.serviceAccount],
      allow: [admin, freshProof],
    }).mutation(({ ctx, input: { identityId, ...patch } }) => identities.patch(identityId, patch, requestFactsOf(ctx))),

    delete: deleteRoute(identity, 'DELETE /identities/{identityId}', { allow: [admin] }).mutation(({ ctx, input }) =>
      identities.delete(input.identityId, requestFactsOf(ctx)),
    ),

    restore: restoreRoute(identity, 'POST /identities/{identityId}/restore', {
      errors: [errors.emailTaken, errors.providerTaken, organizationErrors.notFound],
    }).mutation(({ ctx, input }) => identities.restore(input.identityId, requestFactsOf(ctx))),

    lock: actionRoute(identity, 'POST /identities/{identityId}/lock', 'lock', {
      summary: 'Lock an identity and end its sessions',
      allow: [admin],
    }).mutation(({ ctx, input }) => identities.lock(input.identityId, requestFactsOf(ctx))),

    unlock: actionRoute(identity, 'POST /identities/{identityId}/unlock', 'unlock', {
      summary: 'Unlock an identity',
      allow: [admin],
    }).mutation(async ({ ctx, input }) => {
      const { email } = await identities.unlock(input.identityId, requestFactsOf(ctx));
      if (email !== undefined) await forgetFailedLogins(email);
    }),
  });
}
