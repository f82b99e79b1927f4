import { admin, anyOf, defineRule, notGuest, router, ruleErrors, self, type ScopedProcedure } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { requestFactsOf } from '../audit/request-facts.js';
import { authenticationServiceErrors } from '../authentication/authentication.errors.js';
import { identityErrors } from '../identities/identities.errors.js';
import { isManaging, type OrganizationRole } from '../organizations/roles.js';
import { createRoute, listRoute, removeRoute } from '../shared/record-routes.js';
import { apiKeyErrors as errors } from './keys.errors.js';
import { CreatedApiKeySchema, apiKeyInput, apiKeyList, createApiKeyInput } from './keys.schemas.js';
import type { KeysService } from './keys.service.js';

interface KeysRouterOptions {
  keys: KeysService;
  /** The organization of a service account; undefined for other identities. */
  organizationOf(identityId: string): Promise<string | undefined>;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
  /** The procedures that keys may call. */
  procedures: () => readonly ScopedProcedure[];
}

const key = { one: 'API key', many: 'API keys', output: CreatedApiKeySchema, idInput: apiKeyInput, errors };

/** The key routes of the service `auth`. */
export function createKeysRouter({ keys, organizationOf, roleOf, procedures }: KeysRouterOptions) {
  const managesAccount = defineRule(
    'an owner or admin of the organization of a service account',
    [ruleErrors.notMember, ruleErrors.notInRole],
    async ({ ctx, valueOf }) => {
      const organizationId = await organizationOf((await valueOf('identityId')) ?? '');
      const role = organizationId === undefined ? undefined : await roleOf(organizationId, ctx.identity.id);
      if (role === undefined) throw ruleErrors.notMember();
      if (!isManaging(role)) throw ruleErrors.notInRole();
    },
  );
  const allow = [anyOf(admin, self('identityId'), managesAccount)] as const;
  // a guest, whatever its role, changes nothing in an organization, nor by a key of its service accounts (decisions A8)
  const allowChange = [anyOf(notGuest, self('identityId')), ...allow] as const;
  return router({
    createKey: createRoute(key, 'POST /auth/{identityId}/keys', createApiKeyInput(procedures), {
      summary: 'Make an API key of an identity, which is shown once',
      errors: [authenticationServiceErrors.freshProofNeeded, identityErrors.notFound, errors.tooMany],
      allow: allowChange,
    }).mutation(({ ctx, input: { identityId, ...given } }) => keys.create(identityId, given, ctx.identity, requestFactsOf(ctx))),

    keys: listRoute(key, 'GET /auth/{identityId}/keys', apiKeyList, {
      summary: 'List the API keys of an identity, newest first',
      allow,
    }).query(({ ctx, input }) => keys.list(input.identityId, askedBy(ctx, input))),

    deleteKey: removeRoute(key, 'DELETE /auth/{identityId}/keys/{keyId}', {
      summary: 'Delete an API key of an identity, which ends at once',
      allow: allowChange,
    }).mutation(({ ctx, input }) => keys.delete(input.identityId, input.keyId, requestFactsOf(ctx))),
  });
}
