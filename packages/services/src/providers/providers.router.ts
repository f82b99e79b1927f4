import {
  admin,
  anyOf,
  authenticatedRoute,
  authenticationErrors,
  publicRoute,
  router,
  self,
  type RequestContext,
} from '@tandem/core';
import type { z } from 'zod';
import { requestFactsOf } from '../audit/request-facts.js';
import { authenticationServiceErrors } from '../authentication/authentication.errors.js';
import { requireCookiesPossible } from '../authentication/sign-in-answers.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { verifiedEmail } from '../identities/verified-email.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import type { BrowserCookies } from './browser-cookies.js';
import { providerErrors } from './providers.errors.js';
import {
  LinkSchema,
  LinkedProvidersSchema,
  LocationSchema,
  callbackInput,
  linkInput,
  linkedInput,
  startInput,
  unlinkInput,
} from './providers.schemas.js';
import type { ProvidersService } from './providers.service.js';

interface ProvidersRouterOptions {
  providers: ProvidersService;
  identities: Pick<IdentitiesService, 'isEmailVerified'>;
  rateLimits: RateLimits;
  browserCookies: BrowserCookies;
  /** Allowed return addresses: origins with paths. */
  redirectUrls: ReadonlySet<string>;
}

/** The redirect address contains a secret, so the next page must not get a referrer. */
function keepPrivate(ctx: RequestContext): void {
  ctx.setHeader('referrer-policy', 'no-referrer');
}

const CALLBACK = {
  status: 302,
  failure: 'Failed to find or create identity',
  errors: [providerErrors.notFound, authenticationErrors.unverified, identityErrors.emailTaken, identityErrors.providerTaken],
} as const;

/** Sign-in through identity providers; part of the service `auth` (decisions A15). */
export function createProvidersRouter(options: ProvidersRouterOptions) {
  const { providers, identities, rateLimits, browserCookies, redirectUrls } = options;

  /** Completes an authorization of this browser. */
  async function comeBack(
    ctx: RequestContext,
    { provider, state = '', code, iss, error }: z.output<typeof callbackInput>,
    { byForm }: { byForm: boolean },
  ): Promise<{ location: string }> {
    requireCookiesPossible(ctx);
    keepPrivate(ctx);
    const browserSecret = browserCookies.ofStates.read(ctx, state);
    const begun = await providers.takeUp({ provider, state, browserSecret }, byForm);
    browserCookies.ofStates.remove(ctx, state);
    const { location, binding } = await providers.finish(begun, { state, code, iss, error }, requestFactsOf(ctx));
    if (binding) browserCookies.ofTokens.set(ctx, binding);
    return { location };
  }

  return router({
    startOauth: publicRoute('GET /auth/oauth/{provider}', {
      status: 302,
      summary: 'Redirect to an identity provider, to sign in or sign up',
      failure: 'Failed to create authorization',
      errors: [providerErrors.notFound],
    })
      .use(rateLimits.address('oauthStart'))
      .input(startInput(redirectUrls))
      .output(LocationSchema)
      .query(async ({ ctx, input: { fp, ...given } }) => {
        requireCookiesPossible(ctx);
        keepPrivate(ctx);
        const { location, binding } = await providers.start({ ...given, fingerprint: fp });
        if (binding) browserCookies.ofStates.set(ctx, binding);
        return { location };
      }),

    finishOauth: publicRoute('GET /auth/oauth/{provider}/callback', {
      ...CALLBACK,
      summary: 'Return from an identity provider',
    })
      .input(callbackInput)
      .output(LocationSchema)
      .query(({ ctx, input }) => comeBack(ctx, input, { byForm: false })),

    finishOauthByForm: publicRoute('POST /auth/oauth/{provider}/callback', {
      ...CALLBACK,
      summary: 'Return from Apple, by a form',
      isForm: true,
    })
      .input(callbackInput)
      .output(LocationSchema)
      .mutation(({ ctx, input }) => comeBack(ctx, input, { byForm: true })),

    linkProvider: authenticatedRoute('POST /auth/{identityId}/oauth/{provider}', {
      summary: 'Begin to link an account at an identity provider',
      failure: 'Failed to create authorization',
      errors: [
        providerErrors.notFound,
        identityErrors.notFound,
        identityErrors.providerTaken,
        authenticationServiceErrors.freshProofNeeded,
        authenticationServiceErrors.invalidInput,
        authenticationServiceErrors.locked,
      ],
      allow: [self('identityId'), verifiedEmail(identities)],
    })
      .use(rateLimits.address('passwordProof'))
      .input(linkInput(redirectUrls))
      .use(rateLimits.account('passwordProof', ({ identityId }: { identityId: string }) => identityId))
      .output(LinkSchema)
      .mutation(async ({ ctx, input: { identityId: _, ...given } }) => {
        requireCookiesPossible(ctx);
        keepPrivate(ctx);
        const { url, binding } = await providers.startLink(ctx.identity, given, requestFactsOf(ctx));
        browserCookies.ofStates.set(ctx, binding);
        return { url };
      }),

    listProviders: authenticatedRoute('GET /auth/{identityId}/oauth', {
      summary: 'List the identity providers linked to an identity',
      failure: 'Failed to find linked providers',
      errors: [identityErrors.notFound],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(linkedInput)
      .output(LinkedProvidersSchema)
      .query(async ({ input }) => {
        const linked = await providers.list(input.identityId);
        return linked.map(({ provider, linkedAt }) => ({ provider, linkedAt: linkedAt.toISOString() }));
      }),

    unlinkProvider: authenticatedRoute('DELETE /auth/{identityId}/oauth/{provider}', {
      status: 204,
      summary: 'Unlink an identity provider and end its sessions',
      failure: 'Failed to delete linked provider',
      hasBody: true,
      errors: [
        identityErrors.notFound,
        identityErrors.notLinked,
        identityErrors.onlyWayIn,
        authenticationServiceErrors.freshProofNeeded,
        authenticationServiceErrors.invalidInput,
        authenticationServiceErrors.locked,
      ],
      allow: [anyOf(admin, self('identityId'))],
    })
      .use(rateLimits.address('passwordProof'))
      .input(unlinkInput)
      .use(rateLimits.account('passwordProof', ({ identityId }: { identityId: string }) => identityId))
      .mutation(({ ctx, input }) => providers.unlink(ctx.identity, input, requestFactsOf(ctx))),
  });
}
