import {
  ACCESS_COOKIE,
  ApiError,
  REFRESH_COOKIE,
  admin,
  anyOf,
  authenticatedRoute,
  authenticationErrors,
  checkFingerprint,
  publicRoute,
  readBearer,
  readFingerprint,
  router,
  self,
  type RequestContext,
  type VerifiedAccess,
} from '@tandem/core';
import { requestFactsOf } from '../audit/request-facts.js';
import type { AcceptanceService } from '../invitations/acceptance.service.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { OnetimeTarget } from '../onetime-tokens/onetime-targets.js';
import type { OnetimeToken, OnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import {
  CheckedTokenSchema,
  RefreshedSchema,
  RegisteredSchema,
  SignInSchema,
  checkTokenInput,
  identityTokensInput,
  loginInput,
  refreshTokenInput,
  registerInput,
} from './authentication.schemas.js';
import type { AuthenticationService } from './authentication.service.js';
import type { TokenCookies } from './cookies.js';
import type { SessionsService } from './sessions/sessions.service.js';
import { deviceOf, isCookieMode, requireCookiesPossible, type SignInAnswers } from './sign-in-answers.js';

interface AuthenticationRouterOptions {
  registerInvited: AcceptanceService['register'];
  authentication: AuthenticationService;
  sessions: SessionsService;
  identities: IdentitiesService;
  onetimeTokens: OnetimeTokensService;
  rateLimits: RateLimits;
  answers: SignInAnswers;
  cookies: TokenCookies;
}

/** The refresh tokens of cookie and body (spec: "the refresh token can come from a cookie or from the request"). */
function refreshTokensOf(ctx: RequestContext, inBody: string | undefined): string[] {
  return [...new Set([ctx.cookies[REFRESH_COOKIE], inBody])].filter((token) => token !== undefined && token !== '') as string[];
}

/** The answer of a token check for a one-time token. */
function shownOnetimeToken({ target, subject, email, data, expiresAt }: OnetimeToken) {
  return {
    ...(target === 'invitation' ? { invitationId: subject } : { identityId: subject }),
    target,
    ...(email !== null && { email }),
    ...(data && { data }),
    expiresAt: expiresAt.toISOString(),
  };
}

/** The routes of the spec ("Authentication service") for registration, login, logout and session tokens. */
export function createAuthenticationRouter(options: AuthenticationRouterOptions) {
  const { authentication, sessions, identities, onetimeTokens, registerInvited, rateLimits, answers, cookies } = options;

  /** @returns undefined for a token of another type */
  async function accessOf(token: string): Promise<VerifiedAccess | undefined> {
    try {
      return await sessions.verifyAccess(token);
    } catch (error) {
      if (authenticationErrors.wrongType.matches(error)) return undefined;
      throw error;
    }
  }

  return router({
    register: publicRoute('POST /auth/register', {
      status: 201,
      summary: 'Create an account, by email or by invitation',
      failure: 'Failed to create identity',
      errors: [
        errors.alreadyRegistered,
        authenticationErrors.unverified,
        authenticationErrors.wrongType,
        organizationErrors.tooManyMembers,
      ],
    })
      .use(rateLimits.address('register'))
      .input(registerInput)
      // with an invitation the token determines the email, so no account is counted here
      .use(rateLimits.account('register', ({ email }: { email?: string | undefined }) => email))
      .output(RegisteredSchema)
      .mutation(({ ctx, input: { email, token, password } }) => {
        if (token !== undefined) return registerInvited({ token, password }, requestFactsOf(ctx));
        // the schema requires an email when there is no token
        return authentication.register({ email: email as string, password }, requestFactsOf(ctx));
      }),

    login: publicRoute('POST /auth/login', {
      summary: 'Sign in with email and password',
      failure: 'Failed to create session',
      errors: [errors.wrongCredentials, errors.locked],
    })
      .use(rateLimits.address('login'))
      .input(loginInput)
      .output(SignInSchema)
      .mutation(({ ctx, input: { fingerprint, ...credentials } }) =>
        answers.signIn(ctx, fingerprint, (device) => authentication.login(credentials, device)),
      ),

    logout: publicRoute('POST /auth/logout', {
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
    })
      .input(refreshTokenInput)
      .mutation(async ({ ctx, input }) => {
        const isCookies = isCookieMode(ctx);
        if (isCookies) requireCookiesPossible(ctx);
        const access = [readBearer(ctx), isCookies ? ctx.cookies[ACCESS_COOKIE] : undefined].filter(
          (token) => token !== undefined,
        );
        const refresh = refreshTokensOf(ctx, input.refreshToken);
        if (!isCookies && access.length + refresh.length === 0) throw authenticationErrors.missingHeader();
        try {
          await authentication.logout({ access, refresh, mayBeUnreadable: isCookies }, requestFactsOf(ctx));
        } catch (error) {
          // cookies of two people go too; but those of a session that could not be ended are needed to try again
          if (isCookies && error instanceof ApiError && error.status < 500) cookies.clear(ctx);
          throw error;
        }
        if (isCookies) cookies.clear(ctx);
      }),

    refreshToken: publicRoute('POST /auth/token/refresh', {
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
    })
      .use(rateLimits.address('refresh'))
      .input(refreshTokenInput)
      .output(RefreshedSchema)
      .mutation(async ({ ctx, input }) => {
        if (isCookieMode(ctx)) requireCookiesPossible(ctx);
        const [refreshToken, another] = refreshTokensOf(ctx, input.refreshToken);
        if (refreshToken === undefined) throw errors.noRefreshToken();
        if (another !== undefined) throw authenticationErrors.unverified();
        const beside = isCookieMode(ctx) ? ctx.cookies[ACCESS_COOKIE] : undefined;
        const pair = await sessions.refresh(refreshToken, deviceOf(ctx, readFingerprint(ctx)), beside);
        if (!isCookieMode(ctx)) return pair;
        cookies.set(ctx, pair);
        return undefined;
      }),

    checkToken: publicRoute('POST /auth/token/check', {
      summary: 'Check a token and show what it stands for',
      failure: 'Failed to get token',
      errors: [
        authenticationErrors.unverified,
        authenticationErrors.wrongType,
        authenticationErrors.fingerprintMismatch,
        authenticationErrors.malformedFingerprint,
      ],
    })
      .use(rateLimits.address('checkToken'))
      .input(checkTokenInput)
      .output(CheckedTokenSchema)
      .mutation(async ({ ctx, input }) => {
        const fingerprint = readFingerprint(ctx);
        const access = await accessOf(input.token);
        if (!access) return shownOnetimeToken(await onetimeTokens.read(input.token, input.target as OnetimeTarget | undefined));
        checkFingerprint(access, fingerprint);
        const { id, sessionId } = access.identity;
        return { identityId: id, sessionId, expiresAt: new Date(access.expiresAt * 1000).toISOString() };
      }),

    deleteRefreshTokens: authenticatedRoute('DELETE /auth/{identityId}/refresh-tokens', {
      status: 204,
      summary: 'End all sessions of an identity',
      failure: 'Failed to delete refresh tokens',
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(identityTokensInput)
      .mutation(({ ctx, input }) => identities.endSessions(input.identityId, requestFactsOf(ctx))),
  });
}
