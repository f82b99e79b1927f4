import { admin, authenticatedRoute, authenticationErrors, publicRoute, readFingerprint, router } from '@tandem/core';
import { z } from 'zod';
import type { AuditService } from '../audit/audit.service.js';
import { requestFactsOf } from '../audit/request-facts.js';
import { freshProof, type Proofs } from '../authentication/proofs.js';
import { authenticationServiceErrors } from '../authentication/authentication.errors.js';
import { Fingerprint, SignInSchema, TokenText } from '../authentication/authentication.schemas.js';
import type { AuthenticationService } from '../authentication/authentication.service.js';
import { onetimeTokenInput } from '../authentication/emails/emails.schemas.js';
import type { SignInAnswers } from '../authentication/sign-in-answers.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { BrowserCookies } from '../providers/browser-cookies.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { createRoute } from '../shared/record-routes.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { onetimeTokenErrors } from './onetime-tokens.errors.js';
import type { OnetimeTokensService } from './onetime-tokens.service.js';

const { unverified, wrongType, fingerprintMismatch, malformedFingerprint } = authenticationErrors;

/** Maximum length of a token's data, in characters of JSON. */
const DATA_MAX_LENGTH = 2000;

/** Stored as JSON text, because the store treats some keys specially and limits nesting. */
const Data = z
  .record(z.string(), z.unknown())
  .refine((data) => JSON.stringify(data).length <= DATA_MAX_LENGTH, `must NOT have more than ${DATA_MAX_LENGTH} characters`)
  .describe('Data that a check of the token shows.');
const generateInput = z.strictObject({
  identityId: Id,
  target: z.literal('login').describe('What the token is for.').optional(),
  data: Data.optional(),
});
const GeneratedSchema = z.object({ onetimeToken: z.string(), expiresAt: Timestamp });
const onetimeToken = { one: 'one-time token', output: GeneratedSchema };
const loginInput = z.strictObject({ token: TokenText, fingerprint: Fingerprint.optional() });

interface OnetimeTokensRouterOptions {
  onetimeTokens: OnetimeTokensService;
  authentication: AuthenticationService;
  audit: AuditService;
  rateLimits: RateLimits;
  answers: SignInAnswers;
  browserCookies: BrowserCookies;
  proofs: Pick<Proofs, 'requireFresh'>;
}

/** The one-time token routes of the spec ("Authentication service"; decisions A7). */
export function createOnetimeTokensRouter(options: OnetimeTokensRouterOptions) {
  const { onetimeTokens, authentication, audit, rateLimits, answers, browserCookies, proofs } = options;
  return router({
    ottLogin: publicRoute('POST /auth/ott/login', {
      summary: 'Sign in with a one-time token',
      failure: 'Failed to create session',
      errors: [authenticationServiceErrors.locked, unverified, wrongType, fingerprintMismatch, malformedFingerprint],
    })
      .use(rateLimits.address('onetimeLogin'))
      .input(loginInput)
      .output(SignInSchema)
      .mutation(({ ctx, input: { token, fingerprint = readFingerprint(ctx) } }) => {
        // two different fingerprints leave the device unclear
        if ((readFingerprint(ctx) ?? fingerprint) !== fingerprint) throw fingerprintMismatch();
        const secretOf = (jti: string) => browserCookies.ofTokens.read(ctx, jti);
        return answers.signIn(ctx, fingerprint, (device) => authentication.loginByOnetimeToken(token, device, secretOf));
      }),

    ottGenerate: createRoute(onetimeToken, 'POST /auth/ott/generate', generateInput, {
      summary: 'Create a one-time token for an identity to sign in with',
      errors: [identityErrors.notFound],
      // else a stolen session could begin a fresh one
      allow: [admin, freshProof(proofs)],
    }).mutation(async ({ ctx, input: { identityId, target = 'login', data } }) => {
      const { token, expiresAt } = await onetimeTokens.create({ identityId, target, ...(data && { data }) });
      await audit.record('onetime.generated', requestFactsOf(ctx), { identityId });
      return { onetimeToken: token, expiresAt: expiresAt.toISOString() };
    }),

    ottRestore: authenticatedRoute('POST /auth/ott/restore', {
      status: 204,
      summary: 'Make an invalidated one-time token usable again',
      failure: 'Failed to restore one-time token',
      errors: [unverified, wrongType, onetimeTokenErrors.notRestorable],
      allow: [admin],
    })
      .input(onetimeTokenInput)
      .mutation(async ({ ctx, input }) => {
        const identityId = await onetimeTokens.restore(input.token);
        await audit.record('onetime.restored', requestFactsOf(ctx), { identityId });
      }),

    ottInvalidate: authenticatedRoute('POST /auth/ott/invalidate', {
      status: 204,
      summary: 'Invalidate a one-time token',
      failure: 'Failed to invalidate one-time token',
      errors: [unverified, wrongType],
      allow: [admin],
    })
      .input(onetimeTokenInput)
      .mutation(async ({ ctx, input }) => {
        const identityId = await onetimeTokens.invalidate(input.token);
        await audit.record('onetime.invalidated', requestFactsOf(ctx), { identityId });
      }),
  });
}
