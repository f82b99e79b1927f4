import {
  TokenError,
  describeError,
  validationError,
  validationTexts,
  authenticationErrors,
  type IdentityTypeIds,
  type Log,
  type TokenClaims,
  type TokenType,
  type Tokens,
} from '@tandem/core';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { AuditService } from '../audit/audit.service.js';
import { NO_REQUEST, type RequestFacts } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { Credentials } from '../identities/identity-lookups.js';
import type { OnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';
import { hashOf } from '../providers/oauth-states.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { tokenRefusal, authenticationServiceErrors as errors } from './authentication.errors.js';
import { accountInput } from './authentication.schemas.js';
import { failAttempt } from './failed-logins/failed-attempt.js';
import type { FailedLogins, Turn } from './failed-logins/failed-logins.js';
import type { FactorsService } from './factors/factors.service.js';
import type { Challenge, MfaService } from './mfa/mfa.service.js';
import type { OnetimeProofs } from './onetime-proofs.js';
import type { Passwords } from './passwords/passwords.js';
import type { Device, SessionsService, TokenPair } from './sessions/sessions.service.js';

export type AuthenticationService = ReturnType<typeof createAuthenticationService>;

interface AuthenticationOptions {
  identities: IdentitiesService;
  sessions: SessionsService;
  passwords: Passwords;
  failedLogins: FailedLogins;
  tokens: Tokens;
  onetimeTokens: OnetimeTokensService;
  onetimeProofs: OnetimeProofs;
  mfa: MfaService;
  /** Whether those without a factor are sent a code. */
  mfaEnabled: boolean;
  factors: Pick<FactorsService, 'usePasskey'>;
  typeIds: IdentityTypeIds;
  audit: AuditService;
  rateLimits: Pick<RateLimits, 'countAccount'>;
  log: Log;
}

/** A session, or the token of an MFA challenge to complete first. */
export type SignInAnswer = ({ id: string } & TokenPair) | Challenge;

/** The tokens sent with a logout. */
export interface GivenTokens {
  /** From the header and, in cookie mode, the cookie. */
  access: readonly string[];
  refresh: readonly string[];
  /** Skips unreadable tokens. Used in cookie mode, where a browser sends whatever its cookies hold. */
  mayBeUnreadable: boolean;
}

/** Registration, login, logout (spec, "Authentication service"). Expects emails trimmed and lower-cased. */
export function createAuthenticationService({
  identities,
  sessions,
  passwords,
  failedLogins,
  tokens,
  onetimeTokens,
  onetimeProofs,
  mfa,
  mfaEnabled,
  factors,
  typeIds,
  audit,
  rateLimits,
  log,
}: AuthenticationOptions) {
  /**
   * The claims of all readable tokens, expired ones included. For an unreadable token calls `refuse`, which may throw; else the
   * token is skipped.
   */
  async function readAll(type: TokenType, given: readonly string[], refuse: (error: TokenError) => void): Promise<TokenClaims[]> {
    const read = (token: string) =>
      tokens.verifyEvenExpired(type, token).catch((error: unknown) => {
        if (!(error instanceof TokenError)) throw error;
        return refuse(error);
      });
    return (await Promise.all(given.map(read))).filter((claims) => claims !== undefined);
  }

  /** Notes the attempt of who may not sign in. @returns the error to throw */
  function refuseBarred({ id: identityId }: Credentials, by: RequestFacts): Error {
    void audit.record('login.failed', by, { identityId, details: { reason: 'barred' } });
    return errors.locked();
  }

  /** Returns the credentials if the password is right. @throws errors.wrongCredentials, locked */
  async function prove(
    credentials: Credentials | undefined,
    password: string,
    { turn, by }: { turn: Turn; by: RequestFacts & { account: string } },
  ): Promise<Credentials> {
    const isRight = await passwords.matches(password, credentials?.passwordHash, by);
    const identityId = credentials?.id ?? null;
    if (!credentials || !isRight) {
      await failAttempt({ turn, audit, by }, 'login.failed', { identityId, details: { reason: 'wrong credentials' } });
      throw errors.wrongCredentials();
    }
    if (credentials.isBarred) throw refuseBarred(credentials, by);
    return credentials;
  }

  /** Replaces an outdated hash. A failure is logged and does not fail the login. */
  async function upgrade({ id, email, passwordHash }: Credentials, password: string, by: RequestFacts): Promise<void> {
    if (passwordHash === undefined || !passwords.isOutdated(passwordHash, password)) return;
    try {
      await identities.upgradeHash(id, passwordHash, await passwords.hash(password, { ...by, account: email }));
    } catch (error) {
      log.warn({ err: describeError(error), identityId: id }, 'a password hash was not upgraded');
    }
  }

  /** Continues after the first proof: with an MFA challenge or a session. Every interactive login ends here (decisions A10). */
  async function signIn(credentials: Credentials, device: Device, turn?: Turn): Promise<SignInAnswer> {
    // failures stay counted until the second step succeeds; otherwise a caller who knows the password could guess codes without limit
    if (mfaEnabled || credentials.secondSteps.length > 0) return mfa.challenge(credentials, device);
    const { id, sessionEpoch } = credentials;
    return { id, ...(await sessions.start(id, sessionEpoch, device, ...(turn?.success() ?? []))) };
  }

  /** @throws errors.alreadyRegistered when a live identity has the address, even if several requests race */
  async function create(given: { email: string; password: string; typeId: string; emailVerified: boolean }, by: RequestFacts) {
    const { email, password: text, ...rest } = given;
    const password = await passwords.choose(text, { email, field: 'password' });
    if (await identities.isEmailTaken(email)) throw errors.alreadyRegistered({ email });
    const passwordHash = await passwords.hash(password, { ...by, account: email });
    try {
      const { id } = await identities.create({ email, passwordHash, ...rest });
      return { id, email };
    } catch (error) {
      throw identityErrors.emailTaken.matches(error) ? errors.alreadyRegistered({ email }) : error;
    }
  }

  /**
   * Creates an admin with a verified email and returns its id. For commands; invalid values are reported like those of a
   * registration.
   * @throws errors.alreadyRegistered, validationError
   */
  async function createAdmin(given: { email: string; password: string }): Promise<string> {
    const checked = accountInput.safeParse(given);
    if (!checked.success) throw validationError(validationTexts(checked.error.issues, given, { pathKeys: [], hasBody: true }));
    const { id } = await create({ ...checked.data, typeId: typeIds.admin, emailVerified: true }, NO_REQUEST);
    await audit.record('admin.created', NO_REQUEST, { identityId: id });
    return id;
  }

  return {
    /**
     * Creates a regular identity.
     * @throws errors.alreadyRegistered
     */
    async register(given: { email: string; password: string }, by: RequestFacts): Promise<{ id: string; email: string }> {
      const registered = await create({ ...given, typeId: typeIds.regular, emailVerified: false }, by);
      void audit.record('registered', by, { identityId: registered.id, actorId: registered.id });
      return registered;
    },

    /**
     * Signs in with email and password (decisions A9).
     * @throws errors.wrongCredentials, locked; requestErrors.tooMany
     */
    async login({ email, password }: { email: string; password: string }, device: Device): Promise<SignInAnswer> {
      const read = () => identities.credentialsOf({ email });
      return failedLogins.inTurnWith({ email, from: device }, read, async (turn, found) => {
        // counted only now, so that attempts refused by a lock are not
        await rateLimits.countAccount('login', email, device.ip);
        const credentials = await prove(found, password, { turn, by: { ...device, account: email } });
        await upgrade(credentials, password, device);
        return signIn(credentials, device, turn);
      });
    },

    /**
     * Signs in with a passkey, which needs no second step (decisions F4).
     * @throws errors.passkeyRefused, passkeysOff, locked
     */
    async loginByPasskey(response: AuthenticationResponseJSON, device: Device): Promise<{ id: string } & TokenPair> {
      const readOf = (id: string) => identities.credentialsOf({ id });
      const credentials = await factors.usePasskey(response, readOf).catch((error: unknown) => {
        const details = { reason: 'wrong passkey' };
        if (errors.passkeyRefused.matches(error)) void audit.record('login.failed', device, { identityId: null, details });
        throw error;
      });
      if (!credentials) throw errors.passkeyRefused();
      if (credentials.isBarred) throw refuseBarred(credentials, device);
      return { id: credentials.id, ...(await sessions.start(credentials.id, credentials.sessionEpoch, device)) };
    },

    /**
     * Signs in with a one-time token and consumes it. The session is bound to the fingerprint in the token, else to the device's.
     * @param secretOf the browser's secret for a token id; a provider's token only works in the browser that started the sign-in
     * @throws authenticationErrors.unverified, wrongType, fingerprintMismatch; errors.locked
     */
    async loginByOnetimeToken(
      token: string,
      device: Device,
      secretOf: (jti: string) => string | undefined,
    ): Promise<SignInAnswer> {
      const { onetimeToken, credentials } = await onetimeProofs.read(token, 'login');
      const { id, jti, subject, linkId, browserHash, fingerprintHash = device.fingerprintHash } = onetimeToken;
      // without the fingerprint that the token is bound to it is no better than with another
      const isOtherDevice = device.fingerprintHash !== fingerprintHash;
      const isOtherBrowser = browserHash !== null && browserHash !== hashOf(secretOf(jti) ?? '');
      if (isOtherDevice || isOtherBrowser) throw authenticationErrors.fingerprintMismatch();
      if (credentials.isBarred) throw refuseBarred(credentials, device);
      await onetimeTokens.use(id);
      void audit.record('onetime.used', device, { identityId: subject, actorId: subject });
      return signIn(credentials, { ...device, fingerprintHash, linkId });
    },

    /**
     * Ends the sessions that the tokens name, whether the tokens have expired or not. Idempotent (decisions A12).
     * @throws authenticationErrors.unverified for an unreadable access token, or an access and a refresh token of two identities;
     * wrongType; cookieMismatch
     */
    async logout({ access, refresh, mayBeUnreadable }: GivenTokens, by: RequestFacts): Promise<void> {
      const fromAccess = await readAll('access', access, (error) => {
        if (!mayBeUnreadable) throw tokenRefusal(error);
      });
      const fromRefresh = await readAll('refresh', refresh, () => {});
      if (new Set(fromAccess.map(({ sub }) => sub)).size > 1) throw authenticationErrors.cookieMismatch();
      const all = [...fromAccess, ...fromRefresh];
      if (new Set(all.map(({ sub }) => sub)).size > 1) throw authenticationErrors.unverified();
      const owners = new Map(all.map(({ sid = '', sub }) => [sid, sub]));
      async function end([sessionId, identityId]: [string, string]): Promise<void> {
        if (await sessions.end(sessionId)) void audit.record('logout', by, { identityId, actorId: identityId, sessionId });
      }
      await Promise.all([...owners].map(end));
    },

    /**
     * Creates the first admin unless one exists. Several instances may call this at once.
     * @returns `made` by this call; `exists` with any admin; `taken` where the address has an account that is no admin
     * @throws what else `createAdmin` throws
     */
    async ensureAdmin(given: { email: string; password: string }): Promise<'made' | 'exists' | 'taken'> {
      if (await identities.hasAnyOf(typeIds.admin)) return 'exists';
      try {
        await createAdmin(given);
        return 'made';
      } catch (error) {
        if (!errors.alreadyRegistered.matches(error)) throw error;
        return (await identities.hasAnyOf(typeIds.admin)) ? 'exists' : 'taken';
      }
    },

    createAdmin,
  };
}
