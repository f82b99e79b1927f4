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

/** Seconds after which another try makes sense when a provider does not answer. */
const RETRY_AFTER_PROVIDER = 5;

interface ProvidersOptions {
  clients: readonly ProviderClient[];
  states: OauthStates;
  identities: IdentitiesService;
  typeIds: IdentityTypeIds;
  log: Log;
  audit: AuditService;
  /** Asks for the password of an identity that has one: a stolen session would else make itself a way in for good. */
  provePassword(identityId: string, password: string | undefined, by: RequestFacts): Promise<void>;
  /** One of the identity's live sessions; undefined when it has ended. */
  liveSession(identityId: string, sessionId: string): Promise<SessionRef | undefined>;
  /** Asks who is signed in for a fresh proof of who they are. */
  proveFresh(identity: { id: string; sessionId: string }, password: string | undefined, by: RequestFacts): Promise<void>;
  /** Makes a one-time token that signs an identity in, on one device or in one browser. */
  createLoginToken(given: LoginTokenRequest): Promise<{ token: string; jti: string }>;
}

/** A sign-in that a provider vouches for. */
interface LoginTokenRequest {
  identityId: string;
  /** The link that lets it. */
  linkId: string;
  /** Of the fingerprint that the session is to have. */
  fph?: string;
  /** Of the secret of the only browser that may use the token. */
  browserHash?: string;
}

/** The end of a visit: what the return address is told, and what binds a token to the browser. */
interface Conclusion {
  result: RedirectResult;
  binding?: BrowserBinding;
}

/** Whom a provider's account signs in. */
type SignedIn = Pick<LoginTokenRequest, 'identityId' | 'linkId'>;

/** What a provider's callback carries. */
export interface Callback {
  state: string;
  code: string | undefined;
  iss: string | undefined;
  error: string | undefined;
}

/** Why a browser is sent back without a sign-in. */
class Refused extends Error {
  constructor(readonly word: RedirectError) {
    super(word);
  }
}

/** Sign-in, sign-up and linking through identity providers (decisions A15). */
export function createProvidersService(options: ProvidersOptions) {
  const { states, identities, typeIds, log, audit, provePassword, proveFresh, liveSession, createLoginToken } = options;
  const { providerAccounts } = identities;
  const clients = new Map(options.clients.map((client) => [client.name, client]));

  function clientOf(provider: string): ProviderClient {
    const client = clients.get(provider);
    if (!client) throw providerErrors.notFound();
    return client;
  }

  /** Runs what asks a provider; a failure of it is logged, without what it said. @throws Refused */
  async function asking<T>(provider: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      log.warn({ err: describeError(error), provider }, 'an identity provider failed');
      throw new Refused('provider_error');
    }
  }

  /** @throws Refused when the provider cannot be asked */
  async function begin(authorization: Authorization): Promise<{ url: string; binding: BrowserBinding }> {
    const client = clientOf(authorization.provider);
    const secrets = states.newSecrets();
    const url = await asking(client.name, () => client.authorizationUrl(secrets));
    const browserSecret = await states.begin(secrets, authorization);
    return { url, binding: { of: secrets.state, secret: browserSecret } };
  }

  /** The live identity of an account that may sign in. @throws Refused */
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
    // an identity that waited under somebody else's address would be theirs to walk into, and its maker's to come back to
    if (!isEmailVerified) throw new Refused('email_not_verified');
    try {
      const { id, linkId } = await identities.createByAccount({ email, emailVerified: true, typeId: typeIds.regular }, account);
      void audit.record('provider.signup', by, { identityId: id, actorId: id, details: { provider: account.provider } });
      return { identityId: id, linkId };
    } catch (error) {
      const isTaken = identityErrors.emailTaken.matches(error) || identityErrors.providerTaken.matches(error);
      // by the same person in another tab, at the same moment
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
    if (error?.toLowerCase() === 'access_denied') throw new Refused('access_denied');
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
     * Begins a sign-in or sign-up. The return address has been checked.
     * @returns where the browser goes, with what binds it; without that where the provider cannot be asked: back, with an error
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
     * Begins to link a provider account to an identity that is signed in, and gives its password where it has one.
     * @throws providerErrors.notFound, identityErrors.providerTaken; validationError, authenticationServiceErrors.invalidInput and locked for
     * the password; requestErrors.unavailable when the provider cannot be asked
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
      await provePassword(identityId, password, by);
      try {
        return await begin({ provider, purpose: 'oauth-link', redirectUrl, fingerprintHash: null, identityId, sessionId });
      } catch (error) {
        throw error instanceof Refused ? requestErrors.unavailable({ retryAfter: RETRY_AFTER_PROVIDER, cause: error }) : error;
      }
    },

    /**
     * Takes up what was begun, once, in the browser that began it.
     * @throws providerErrors.notFound; authenticationErrors.unverified for a state that does not count there
     */
    takeUp(given: Return): Promise<OauthStateRecord> {
      clientOf(given.provider);
      return states.end(given);
    },

    /**
     * Ends what was begun.
     * @returns where that browser goes: back, with a login token and what binds it, with the name of the linked provider, or with an error
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
     * Ends the signing in by a provider, and the sessions that came by it. Oneself needs a fresh proof: a stolen session would else take the
     * owner's way in away. An admin who acts on another needs none.
     * @throws identityErrors.notFound, notLinked, onlyWayIn; authenticationServiceErrors.freshProofNeeded, invalidInput, locked
     */
    async unlink(
      caller: { id: string; sessionId: string },
      { identityId, provider, password }: { identityId: string; provider: string; password?: string | undefined },
      by: RequestFacts,
    ): Promise<void> {
      if (caller.id === identityId) await proveFresh(caller, password, by);
      await providerAccounts.unlink(identityId, provider, [...clients.keys()]);
      await audit.record('provider.unlinked', by, { identityId, details: { provider } });
    },
  };
}
