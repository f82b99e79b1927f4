import { describeError, hashFingerprint, requestErrors, type IdentityTypeIds, type Log } from '@tandem/core';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { ProviderAccount } from '../identities/provider-accounts.js';
import type { BrowserBinding } from './browser-cookies.js';
import type { OauthStateRecord } from './oauth-state.model.js';
import type { Authorization, OauthStates, Return } from './oauth-states.js';
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
  isSessionLive(identityId: string, sessionId: string): Promise<boolean>;
  /** Makes a one-time token that signs an identity in, with the fingerprint that the session is to have. */
  createLoginToken(identityId: string, fingerprintHash: string | undefined): Promise<string>;
}

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
  const { states, identities, typeIds, log, audit, provePassword, isSessionLive, createLoginToken } = options;
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
    return { url, binding: { state: secrets.state, browserSecret } };
  }

  /** The live identity of an account that may sign in. @throws Refused */
  async function signInAs(account: ProviderAccount, by: RequestFacts): Promise<string | undefined> {
    const { provider } = account;
    const { id } = (await providerAccounts.identityOf(account)) ?? {};
    const state = id === undefined ? undefined : await identities.accessStateOf(id);
    if (id === undefined || !state) return undefined;
    if (state.isBarred) {
      void audit.record('login.failed', by, { identityId: id, details: { reason: 'barred', provider } });
      throw new Refused('account_locked');
    }
    void audit.record('provider.login', by, { identityId: id, actorId: id, details: { provider } });
    return id;
  }

  /** @throws Refused; identityErrors.emailTaken */
  async function signUp(
    account: ProviderAccount,
    { email, isEmailVerified }: ProvidersAccount,
    by: RequestFacts,
  ): Promise<string> {
    if (email === undefined) throw new Refused('email_missing');
    // an identity that waited under somebody else's address would be theirs to walk into, and its maker's to come back to
    if (!isEmailVerified) throw new Refused('email_not_verified');
    try {
      const { id } = await identities.create({ email, emailVerified: true, typeId: typeIds.regular, account });
      void audit.record('provider.signup', by, { identityId: id, actorId: id, details: { provider: account.provider } });
      return id;
    } catch (error) {
      const isTaken = identityErrors.emailTaken.matches(error) || identityErrors.providerTaken.matches(error);
      // by the same person in another tab, at the same moment
      const id = isTaken ? await signInAs(account, by) : undefined;
      if (id === undefined) throw error;
      return id;
    }
  }

  /** @throws Refused; identityErrors.providerTaken */
  async function link(
    { identityId, sessionId }: OauthStateRecord,
    account: ProviderAccount,
    by: RequestFacts,
  ): Promise<RedirectResult> {
    if (identityId === null || sessionId === null || !(await isSessionLive(identityId, sessionId)))
      throw new Refused('signed_out');
    await providerAccounts.link(identityId, account);
    const { provider } = account;
    void audit.record('provider.linked', by, { identityId, actorId: identityId, sessionId, details: { provider } });
    return { linked: provider };
  }

  async function conclude(begun: OauthStateRecord, callback: Callback, by: RequestFacts): Promise<RedirectResult> {
    const { provider, purpose, nonce, codeVerifier, fingerprintHash } = begun;
    const { state, code, iss, error } = callback;
    if (error?.toLowerCase() === 'access_denied') throw new Refused('access_denied');
    if (error !== undefined || code === undefined) throw new Refused('provider_error');
    const withEmail = purpose === 'oauth-signup';
    const found = await asking(provider, () =>
      clientOf(provider).accountOf({ code, iss }, { state, nonce, codeVerifier }, withEmail),
    );
    const account = { provider, subject: found.subject };
    if (purpose === 'oauth-link') return link(begun, account, by);
    const id = (await signInAs(account, by)) ?? (withEmail ? await signUp(account, found, by) : undefined);
    if (id === undefined) throw new Refused('identity_not_found');
    return { onetimeToken: await createLoginToken(id, fingerprintHash ?? undefined) };
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
     * @returns where that browser goes: back, with a login token, with the name of the linked provider, or with an error
     * @throws identityErrors.emailTaken, providerTaken
     */
    async finish(begun: OauthStateRecord, callback: Callback, by: RequestFacts): Promise<{ location: string }> {
      try {
        return { location: withResult(begun.redirectUrl, await conclude(begun, callback, by)) };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return { location: withResult(begun.redirectUrl, { error: error.word }) };
      }
    },

    /** @throws identityErrors.notFound */
    list: providerAccounts.list,

    /** @throws identityErrors.notFound, notLinked, onlyWayIn */
    async unlink(identityId: string, provider: string, by: RequestFacts): Promise<void> {
      await providerAccounts.unlink(identityId, provider, [...clients.keys()]);
      await audit.record('provider.unlinked', by, { identityId, details: { provider } });
    },
  };
}
