import {
  authenticationErrors,
  describeError,
  hashFingerprint,
  requestErrors,
  type IdentityTypeIds,
  type Log,
} from '@tandem/core';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import type { SessionRef } from '../identities/identity-changes.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { ProviderAccount } from '../identities/provider-accounts.js';
import type { BrowserBinding } from './browser-cookies.js';
import type { OauthStateRecord } from './oauth-state.model.js';
import { hashOf, newSecret, type Authorization, type OauthStates, type Return } from './oauth-states.js';
import type { ProviderClient, ProvidersAccount } from './provider-client.js';
import { providerErrors, type RedirectError } from './providers.errors.js';
import { withResult, type RedirectResult } from './redirect-urls.js';

export type ProvidersService = ReturnType<typeof createProvidersService>;

/** How providers say that the person refused; the second is Apple's. */
const REFUSALS: readonly string[] = ['access_denied', 'user_cancelled_authorize'];

/** `Retry-After` when a provider does not answer, in seconds. */
const RETRY_AFTER_PROVIDER = 5;

interface ProvidersOptions {
  clients: readonly ProviderClient[];
  states: OauthStates;
  identities: IdentitiesService;
  typeIds: IdentityTypeIds;
  log: Log;
  audit: AuditService;
  /** Checks the password of an identity that has one; otherwise a stolen session could link a permanent way to sign in. */
  provePassword(caller: { id: string; sessionId: string }, password: string | undefined, by: RequestFacts): Promise<void>;
  /** A live session of the identity; undefined when it has ended. */
  liveSession(identityId: string, sessionId: string): Promise<SessionRef | undefined>;
  /** Requires a fresh proof of the signed-in identity. */
  proveFresh(identity: { id: string; sessionId: string }, password: string | undefined, by: RequestFacts): Promise<void>;
  /** Whether the server makes passkeys. */
  hasPasskeys: boolean;
  /** Creates a one-time login token for one device or browser. */
  createLoginToken(given: LoginTokenRequest): Promise<{ token: string; jti: string }>;
}

/** A sign-in confirmed by a provider. */
interface LoginTokenRequest {
  identityId: string;
  /** The provider link used. */
  linkId: string;
  /** Hash of the fingerprint to bind the session to. */
  fph?: string;
  /** Hash of the secret of the only browser that may redeem the token. */
  browserHash?: string;
}

/** The result for the return address, and the binding of a token to the browser. */
interface Conclusion {
  result: RedirectResult;
  binding?: BrowserBinding;
}

/** The identity that a provider account signs in, and the link. */
type SignedIn = Pick<LoginTokenRequest, 'identityId' | 'linkId'>;

/** The callback parameters of a provider. */
export interface Callback {
  state: string;
  code: string | undefined;
  iss: string | undefined;
  error: string | undefined;
}

/** The reason for sending a browser back without a sign-in. */
class Refused extends Error {
  constructor(readonly word: RedirectError) {
    super(word);
  }
}

/** Sign-in, sign-up and linking through identity providers (decisions A15). */
export function createProvidersService(options: ProvidersOptions) {
  const { states, identities, typeIds, log, audit, provePassword, proveFresh, liveSession, hasPasskeys, createLoginToken } =
    options;
  const { providerAccounts } = identities;
  const clients = new Map(options.clients.map((client) => [client.name, client]));

  function clientOf(provider: string): ProviderClient {
    const client = clients.get(provider);
    if (!client) throw providerErrors.notFound();
    return client;
  }

  /** Runs a request to a provider. Logs a failure without the provider's text. @throws Refused */
  async function asking<T>(provider: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      log.warn({ err: describeError(error), provider }, 'an identity provider failed');
      throw new Refused('provider_error');
    }
  }

  /** @throws Refused when the provider does not answer */
  async function begin(authorization: Authorization): Promise<{ url: string; binding: BrowserBinding }> {
    const client = clientOf(authorization.provider);
    const secrets = states.newSecrets();
    const url = await asking(client.name, () => client.authorizationUrl(secrets));
    const browserSecret = await states.begin(secrets, authorization);
    return { url, binding: { of: secrets.state, secret: browserSecret, isFromForm: client.returnsByForm } };
  }

  /** The live identity of an account, if it may sign in. @throws Refused */
  async function signInAs(account: ProviderAccount, by: RequestFacts): Promise<SignedIn | undefined> {
    const { provider } = account;
    const found = await providerAccounts.identityOf(account);
    const state = found && (await identities.accessStateOf(found.id));
    if (!found || !state) return undefined;
    const { id, linkId } = found;
    if (state.isBarred) {
      void audit.record('login.failed', by, { identityId: id, details: { reason: 'barred', provider } });
      throw new Refused('account_locked');
    }
    void audit.record('provider.login', by, { identityId: id, actorId: id, details: { provider } });
    return { identityId: id, linkId };
  }

  /** @throws Refused; identityErrors.emailTaken */
  async function signUp(
    account: ProviderAccount,
    { email, isEmailVerified }: ProvidersAccount,
    by: RequestFacts,
  ): Promise<SignedIn> {
    if (email === undefined) throw new Refused('email_missing');
    // an unverified address may belong to somebody else, who would later share the account with the person signing up
    if (!isEmailVerified) throw new Refused('email_not_verified');
    try {
      const { id, linkId } = await identities.createByAccount({ email, emailVerified: true, typeId: typeIds.regular }, account);
      void audit.record('provider.signup', by, { identityId: id, actorId: id, details: { provider: account.provider } });
      return { identityId: id, linkId };
    } catch (error) {
      const isTaken = identityErrors.emailTaken.matches(error) || identityErrors.providerTaken.matches(error);
      // the same person may have signed up in another tab at the same moment
      const signedIn = isTaken ? await signInAs(account, by) : undefined;
      if (!signedIn) throw error;
      return signedIn;
    }
  }

  /** @throws Refused; identityErrors.providerTaken */
  async function link(
    { identityId, sessionId }: OauthStateRecord,
    account: ProviderAccount,
    by: RequestFacts,
  ): Promise<RedirectResult> {
    const session = identityId !== null && sessionId !== null && (await liveSession(identityId, sessionId));
    if (!session) throw new Refused('signed_out');
    const { provider } = account;
    await providerAccounts.link(identityId, account, session).catch((error: unknown) => {
      if (identityErrors.emailNotVerified.matches(error)) throw new Refused('email_not_verified');
      const hasEnded = authenticationErrors.unverified.matches(error) || identityErrors.notFound.matches(error);
      throw hasEnded ? new Refused('signed_out') : error;
    });
    void audit.record('provider.linked', by, { identityId, actorId: identityId, sessionId, details: { provider } });
    return { linked: provider };
  }

  async function conclude(begun: OauthStateRecord, callback: Callback, by: RequestFacts): Promise<Conclusion> {
    const { provider, purpose, nonce, codeVerifier, fingerprintHash } = begun;
    const { state, code, iss, error } = callback;
    if (error !== undefined && REFUSALS.includes(error.toLowerCase())) throw new Refused('access_denied');
    if (error !== undefined || code === undefined) throw new Refused('provider_error');
    const withEmail = purpose === 'oauth-signup';
    const found = await asking(provider, () =>
      clientOf(provider).accountOf({ code, iss }, { state, nonce, codeVerifier }, withEmail),
    );
    const account = { provider, subject: found.subject };
    if (purpose === 'oauth-link') return { result: await link(begun, account, by) };
    const signedIn = (await signInAs(account, by)) ?? (withEmail ? await signUp(account, found, by) : undefined);
    if (!signedIn) throw new Refused('identity_not_found');
    if (fingerprintHash !== null) {
      const { token } = await createLoginToken({ ...signedIn, fph: fingerprintHash });
      return { result: { onetimeToken: token } };
    }
    const secret = newSecret();
    const { token, jti } = await createLoginToken({ ...signedIn, browserHash: hashOf(secret) });
    return { result: { onetimeToken: token }, binding: { of: jti, secret } };
  }

  return {
    /**
     * Begins a sign-in or sign-up. Expects a checked return address.
     * @returns the address to redirect to, with the browser's binding; if the provider does not answer, the return address with
     * an error
     * @throws providerErrors.notFound
     */
    async start(given: {
      provider: string;
      purpose: 'oauth-login' | 'oauth-signup';
      redirectUrl: string;
      fingerprint: string | undefined;
    }): Promise<{ location: string; binding?: BrowserBinding }> {
      const { fingerprint, ...authorization } = given;
      clientOf(given.provider);
      const fingerprintHash = fingerprint === undefined ? null : hashFingerprint(fingerprint);
      try {
        const { url, binding } = await begin({ ...authorization, fingerprintHash, identityId: null, sessionId: null });
        return { location: url, binding };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return { location: withResult(given.redirectUrl, { error: error.word }) };
      }
    },

    /**
     * Begins to link a provider account to a signed-in identity, which must give its password; without one its sign-in must be fresh.
     * @throws providerErrors.notFound, identityErrors.providerTaken; validationError, authenticationServiceErrors.invalidInput
     * and locked for the password, freshProofNeeded without one; requestErrors.unavailable when the provider does not answer
     */
    async startLink(
      identity: { id: string; sessionId: string },
      { provider, redirectUrl, password }: { provider: string; redirectUrl: string; password?: string | undefined },
      by: RequestFacts,
    ): Promise<{ url: string; binding: BrowserBinding }> {
      clientOf(provider);
      const linked = await providerAccounts.list(identity.id);
      if (linked.some((one) => one.provider === provider)) throw identityErrors.providerTaken();
      const { id: identityId, sessionId } = identity;
      await provePassword(identity, password, by);
      try {
        return await begin({ provider, purpose: 'oauth-link', redirectUrl, fingerprintHash: null, identityId, sessionId });
      } catch (error) {
        throw error instanceof Refused ? requestErrors.unavailable({ retryAfter: RETRY_AFTER_PROVIDER, cause: error }) : error;
      }
    },

    /**
     * Takes up an authorization once, in the browser that began it.
     * @param byForm whether the browser returns by a form, which only some providers use
     * @throws providerErrors.notFound; authenticationErrors.unverified for a state that is not valid there
     */
    takeUp(given: Return, byForm: boolean): Promise<OauthStateRecord> {
      if (!clientOf(given.provider).returnsByForm && byForm) throw providerErrors.notFound();
      return states.end(given);
    },

    /**
     * Completes an authorization.
     * @returns the return address with a login token and its binding, the linked provider's name, or an error
     * @throws identityErrors.emailTaken, providerTaken
     */
    async finish(
      begun: OauthStateRecord,
      callback: Callback,
      by: RequestFacts,
    ): Promise<{ location: string; binding?: BrowserBinding }> {
      try {
        const { result, ...bound } = await conclude(begun, callback, by);
        return { location: withResult(begun.redirectUrl, result), ...bound };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return { location: withResult(begun.redirectUrl, { error: error.word }) };
      }
    },

    /** @throws identityErrors.notFound */
    list: providerAccounts.list,

    /**
     * Unlinks a provider and ends the sessions that came by it. For oneself this needs a fresh proof; otherwise a stolen session
     * could take away the owner's way to sign in. An admin acting on another identity needs none.
     * @throws identityErrors.notFound, notLinked, onlyWayIn; authenticationServiceErrors.freshProofNeeded, invalidInput, locked
     */
    async unlink(
      caller: { id: string; sessionId: string },
      { identityId, provider, password }: { identityId: string; provider: string; password?: string | undefined },
      by: RequestFacts,
    ): Promise<void> {
      if (caller.id === identityId) await proveFresh(caller, password, by);
      await providerAccounts.unlink(identityId, provider, { providers: [...clients.keys()], passkeys: hasPasskeys });
      await audit.record('provider.unlinked', by, { identityId, details: { provider } });
    },
  };
}
