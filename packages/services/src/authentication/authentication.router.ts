import {
  ACCESS_COOKIE,
  REFRESH_COOKIE,
  admin,
  anyOf,
  authenticated,
  authenticationErrors,
  checkFingerprint,
  publicProcedure,
  readBearer,
  readFingerprint,
  rest,
  router,
  self,
  validationError,
  type RequestContext,
} from '@tandem/core';
import { z } from 'zod';
import { requestFactsOf } from '../audit/request-facts.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import {
  CheckedTokenSchema,
  LoginSchema,
  RefreshedSchema,
  RegisteredSchema,
  checkTokenInput,
  identityTokensInput,
  loginInput,
  refreshTokenInput,
  registerInput,
} from './authentication.schemas.js';
import type { AuthenticationService } from './authentication.service.js';
import type { TokenCookies } from './cookies.js';
import type { Device, SessionsService } from './sessions.service.js';

interface AuthenticationRouterOptions {
  authentication: AuthenticationService;
  sessions: SessionsService;
  identities: IdentitiesService;
  cookies: TokenCookies;
}

function isCookieMode(ctx: RequestContext): boolean {
  return ctx.server.authModeOf('auth') === 'cookie';
}

/**
 * A streamed tRPC answer sends its headers before the work begins, and no cookie can follow: refused before anything is done.
 * @throws validationError
 */
function requireCookiesPossible(ctx: RequestContext): void {
  const accepted = ctx.headers['trpc-accept'] ?? ctx.headers.accept ?? '';
  if (ctx.rest === undefined && accepted.includes('application/jsonl'))
    throw validationError(['a call that sets cookies must not be streamed: use httpBatchLink']);
}

function deviceOf(ctx: RequestContext, fingerprint: string | undefined): Device {
  return { ...requestFactsOf(ctx), fingerprint };
}

/** Cookie and body, whichever are given (spec: "the refresh token can come from a cookie or from the request"). */
function refreshTokensOf(ctx: RequestContext, inBody: string | undefined): string[] {
  return [...new Set([ctx.cookies[REFRESH_COOKIE], inBody])].filter((token) => token !== undefined && token !== '') as string[];
}

/** Spec, "Authentication service". */
export function createAuthenticationRouter({ authentication, sessions, identities, cookies }: AuthenticationRouterOptions) {
  return router({
    register: publicProcedure
      .meta(
        rest('POST /auth/register', {
          status: 201,
          summary: 'Create an account',
          failure: 'Failed to create identity',
          errors: [errors.alreadyRegistered],
        }),
      )
      .input(registerInput)
      .output(RegisteredSchema)
      .mutation(({ ctx, input }) => authentication.register(input, requestFactsOf(ctx))),

    login: publicProcedure
      .meta(
        rest('POST /auth/login', {
          summary: 'Sign in with email and password',
          failure: 'Failed to create session',
          errors: [errors.wrongCredentials, errors.locked],
        }),
      )
      .input(loginInput)
      .output(LoginSchema)
      .mutation(async ({ ctx, input: { fingerprint, ...credentials } }) => {
        if (isCookieMode(ctx)) requireCookiesPossible(ctx);
        const { id, ...pair } = await authentication.login(credentials, deviceOf(ctx, fingerprint));
        if (!isCookieMode(ctx)) return { id, ...pair };
        cookies.set(ctx, pair);
        return { id };
      }),

    logout: publicProcedure
      .meta(
        rest('POST /auth/logout', {
          status: 204,
          summary: 'End the session',
          failure: 'Failed to delete session',
          errors: [
            authenticationErrors.missingHeader,
            authenticationErrors.malformedHeader,
            authenticationErrors.cookieMismatch,
            authenticationErrors.unverified,
            authenticationErrors.wrongType,
          ],
        }),
      )
      .input(refreshTokenInput)
      .output(z.void())
      .mutation(async ({ ctx, input }) => {
        const isCookies = isCookieMode(ctx);
        if (isCookies) {
          requireCookiesPossible(ctx);
          cookies.clear(ctx);
        }
        const access = [readBearer(ctx), isCookies ? ctx.cookies[ACCESS_COOKIE] : undefined].filter(
          (token) => token !== undefined,
        );
        const refresh = refreshTokensOf(ctx, input.refreshToken);
        if (!isCookies && access.length + refresh.length === 0) throw authenticationErrors.missingHeader();
        await authentication.logout({ access, refresh, mayBeUnreadable: isCookies }, requestFactsOf(ctx));
      }),

    refreshToken: publicProcedure
      .meta(
        rest('POST /auth/token/refresh', {
          summary: 'Exchange a refresh token',
          mayBeEmpty: true,
          failure: 'Failed to create token',
          errors: [
            errors.noRefreshToken,
            errors.unusable,
            errors.reused,
            authenticationErrors.malformedFingerprint,
            authenticationErrors.unverified,
          ],
        }),
      )
      .input(refreshTokenInput)
      .output(RefreshedSchema)
      .mutation(async ({ ctx, input }) => {
        if (isCookieMode(ctx)) requireCookiesPossible(ctx);
        const [refreshToken, another] = refreshTokensOf(ctx, input.refreshToken);
        if (refreshToken === undefined) throw errors.noRefreshToken();
        if (another !== undefined) throw authenticationErrors.unverified();
        const pair = await sessions.refresh(refreshToken, deviceOf(ctx, readFingerprint(ctx)));
        if (!isCookieMode(ctx)) return pair;
        cookies.set(ctx, pair);
        return undefined;
      }),

    checkToken: publicProcedure
      .meta(
        rest('POST /auth/token/check', {
          summary: 'Say whose token it is, if it counts',
          failure: 'Failed to get token',
          errors: [
            authenticationErrors.unverified,
            authenticationErrors.wrongType,
            authenticationErrors.fingerprintMismatch,
            authenticationErrors.malformedFingerprint,
          ],
        }),
      )
      .input(checkTokenInput)
      .output(CheckedTokenSchema)
      .mutation(async ({ ctx, input }) => {
        const fingerprint = readFingerprint(ctx);
        const access = await sessions.verifyAccess(input.token);
        checkFingerprint(access, fingerprint);
        const { id, sessionId } = access.identity;
        return { identityId: id, sessionId, expiresAt: new Date(access.expiresAt * 1000).toISOString() };
      }),

    deleteRefreshTokens: authenticated
      .meta(
        rest('DELETE /auth/{identityId}/refresh-tokens', {
          status: 204,
          summary: 'End all sessions of an identity',
          failure: 'Failed to delete refresh tokens',
        }),
      )
      .use(anyOf(admin, self('identityId')))
      .input(identityTokensInput)
      .output(z.void())
      .mutation(({ ctx, input }) => identities.endSessions(input.identityId, requestFactsOf(ctx))),
  });
}
