import { createHash, randomBytes } from 'node:crypto';
import { authenticationErrors } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { oauthStateModel, type OauthStateRecord } from './oauth-state.model.js';
import type { AuthorizationSecrets } from './provider-client.js';

/** How long a person may stay at the provider, in milliseconds. */
export const OAUTH_STATE_LIFETIME_MS = 10 * 60_000;

/** The stored fields of an authorization, without its secrets. */
export type Authorization = Pick<
  OauthStateRecord,
  'provider' | 'purpose' | 'redirectUrl' | 'fingerprintHash' | 'identityId' | 'sessionId'
>;

/** Identifies a browser returning from a provider. */
export interface Return {
  provider: string;
  state: string;
  /** From the browser's cookie. */
  browserSecret: string | undefined;
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Hashes states and browser secrets for the store, so that read access to the store neither completes an authorization nor
 * redeems a token.
 */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Authorizations in progress. */
export function createOauthStates(storage: Storage) {
  const States = storage.model(oauthStateModel);
  return {
    newSecrets: (): AuthorizationSecrets => ({ state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() }),

    /** Stores an authorization. @returns the secret for the browser's cookie */
    async begin({ state, nonce, codeVerifier }: AuthorizationSecrets, authorization: Authorization): Promise<string> {
      const browserSecret = newSecret();
      const expiresAt = new Date(storage.clock.now().getTime() + OAUTH_STATE_LIFETIME_MS);
      await States.create({
        _id: hashOf(state),
        ...authorization,
        nonce,
        codeVerifier,
        browserHash: hashOf(browserSecret),
        expiresAt,
      });
      return browserSecret;
    },

    /**
     * Completes an authorization once; of concurrent calls one succeeds. A call from another browser fails and leaves the
     * authorization to the right one.
     * @throws authenticationErrors.unverified when it is unknown, expired, completed, of another provider, or of another browser
     */
    async end({ provider, state, browserSecret }: Return): Promise<OauthStateRecord> {
      if (browserSecret === undefined) throw authenticationErrors.unverified();
      const ended = await States.findOneAndDelete({
        _id: hashOf(state),
        provider,
        browserHash: hashOf(browserSecret),
        expiresAt: { $gt: storage.clock.now() },
      }).lean<OauthStateRecord>();
      if (!ended) throw authenticationErrors.unverified();
      return ended;
    },
  };
}
export type OauthStates = ReturnType<typeof createOauthStates>;
