import { admin, allow, anyOf, authenticated, rest, router, self, type IdentityTypeIds } from '@tandem/core';
import { z } from 'zod';
import { requestFactsOf } from '../audit/request-facts.js';
import { askedBy } from '../shared/asked-by.js';
import { listErrors } from '../shared/lists.errors.js';
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
    list: authenticated
      .meta(
        rest('GET /identities', {
          summary: 'List identities',
          failure: 'Failed to find identities',
          errors: [listErrors.invalidNextToken],
        }),
      )
      .use(allow(admin))
      .input(identityList.input)
      .output(identityList.output)
      .query(({ ctx, input }) => identities.list(askedBy(ctx, input))),

    get: authenticated
      .meta(
        rest('GET /identities/{identityId}', {
          summary: 'Read an identity',
          failure: 'Failed to get identity',
          errors: [notFound],
        }),
      )
      .use(allow(anyOf(admin, self('identityId'))))
      .input(identityInput)
      .output(IdentitySchema)
      .query(({ input }) => identities.get(input.identityId)),

    patch: authenticated
      .meta(
        rest('PATCH /identities/{identityId}', {
          summary: 'Change an identity',
          failure: 'Failed to update identity',
          errors: [notFound, nothingToUpdate, emailTaken],
        }),
      )
      .use(allow(admin))
      .input(identityPatchInput(types))
      .output(IdentitySchema)
      .mutation(({ ctx, input: { identityId, ...patch } }) => identities.patch(identityId, patch, requestFactsOf(ctx))),

    delete: authenticated
      .meta(
        rest('DELETE /identities/{identityId}', {
          status: 204,
          summary: 'Delete an identity',
          failure: 'Failed to delete identity',
          errors: [notFound],
        }),
      )
      .use(allow(admin))
      .input(identityInput)
      .output(z.void())
      .mutation(({ ctx, input }) => identities.delete(input.identityId, requestFactsOf(ctx))),

    restore: authenticated
      .meta(
        rest('POST /identities/{identityId}/restore', {
          summary: 'Restore a deleted identity',
          failure: 'Failed to restore identity',
          errors: [notFound, emailTaken, identityErrors.providerTaken],
        }),
      )
      .use(allow(admin))
      .input(identityInput)
      .output(IdentitySchema)
      .mutation(({ ctx, input }) => identities.restore(input.identityId, requestFactsOf(ctx))),

    lock: authenticated
      .meta(
        rest('POST /identities/{identityId}/lock', {
          status: 204,
          summary: 'Lock an identity and end its sessions',
          failure: 'Failed to lock identity',
          errors: [notFound],
        }),
      )
      .use(allow(admin))
      .input(identityInput)
      .output(z.void())
      .mutation(({ ctx, input }) => identities.lock(input.identityId, requestFactsOf(ctx))),

    unlock: authenticated
      .meta(
        rest('POST /identities/{identityId}/unlock', {
          status: 204,
          summary: 'Unlock an identity',
          failure: 'Failed to unlock identity',
          errors: [notFound],
        }),
      )
      .use(allow(admin))
      .input(identityInput)
      .output(z.void())
      .mutation(async ({ ctx, input }) => {
        const { email } = await identities.unlock(input.identityId, requestFactsOf(ctx));
        await forgetFailedLogins(email);
      }),
  });
}
