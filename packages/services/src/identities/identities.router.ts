import { admin, anyOf, authenticatedRoute, router, self, type IdentityTypeIds } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { requestFactsOf } from '../audit/request-facts.js';
import { identityErrors } from './identities.errors.js';
import { IdentitySchema, identityInput, identityList, identityPatchInput } from './identities.schemas.js';
import type { IdentitiesService } from './identities.service.js';

const { notFound, nothingToUpdate, emailTaken } = identityErrors;

interface IdentitiesRouterOptions {
  identities: IdentitiesService;
  typeIds: IdentityTypeIds;
  /** Clears the failed logins of an address when an admin unlocks its identity. */
  forgetFailedLogins(email: string): Promise<void>;
}

/** The identity routes of the spec ("Other services"). */
export function createIdentitiesRouter({ identities, typeIds, forgetFailedLogins }: IdentitiesRouterOptions) {
  const types = Object.values(typeIds) as string[];
  return router({
    list: authenticatedRoute('GET /identities', {
      summary: 'List identities',
      failure: 'Failed to find identities',
      errors: [listErrors.invalidNextToken],
      allow: [admin],
    })
      .input(identityList.input)
      .output(identityList.output)
      .query(({ ctx, input }) => identities.list(askedBy(ctx, input))),

    get: authenticatedRoute('GET /identities/{identityId}', {
      summary: 'Read an identity',
      failure: 'Failed to get identity',
      errors: [notFound],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(identityInput)
      .output(IdentitySchema)
      .query(({ input }) => identities.get(input.identityId)),

    patch: authenticatedRoute('PATCH /identities/{identityId}', {
      summary: 'Change an identity',
      failure: 'Failed to update identity',
      errors: [notFound, nothingToUpdate, emailTaken],
      allow: [admin],
    })
      .input(identityPatchInput(types))
      .output(IdentitySchema)
      .mutation(({ ctx, input: { identityId, ...patch } }) => identities.patch(identityId, patch, requestFactsOf(ctx))),

    delete: authenticatedRoute('DELETE /identities/{identityId}', {
      status: 204,
      summary: 'Delete an identity',
      failure: 'Failed to delete identity',
      errors: [notFound],
      allow: [admin],
    })
      .input(identityInput)
      .mutation(({ ctx, input }) => identities.delete(input.identityId, requestFactsOf(ctx))),

    restore: authenticatedRoute('POST /identities/{identityId}/restore', {
      summary: 'Restore a deleted identity',
      failure: 'Failed to restore identity',
      errors: [notFound, emailTaken, identityErrors.providerTaken],
      allow: [admin],
    })
      .input(identityInput)
      .output(IdentitySchema)
      .mutation(({ ctx, input }) => identities.restore(input.identityId, requestFactsOf(ctx))),

    lock: authenticatedRoute('POST /identities/{identityId}/lock', {
      status: 204,
      summary: 'Lock an identity and end its sessions',
      failure: 'Failed to lock identity',
      errors: [notFound],
      allow: [admin],
    })
      .input(identityInput)
      .mutation(({ ctx, input }) => identities.lock(input.identityId, requestFactsOf(ctx))),

    unlock: authenticatedRoute('POST /identities/{identityId}/unlock', {
      status: 204,
      summary: 'Unlock an identity',
      failure: 'Failed to unlock identity',
      errors: [notFound],
      allow: [admin],
    })
      .input(identityInput)
      .mutation(async ({ ctx, input }) => {
        const { email } = await identities.unlock(input.identityId, requestFactsOf(ctx));
        await forgetFailedLogins(email);
      }),
  });
}
