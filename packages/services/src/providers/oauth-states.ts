import { createHash, randomBytes } from 'node:crypto';
import { authenticationErrors } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { oauthStateModel, type OauthStateRecord } from './oauth-state.model.js';
import type { AuthorizationSecrets } from './provider-client.js';

/** For how long a person may be at the provider, in milliseconds. */
export const OAUTH_STATE_LIFETIME_MS = 10 * 60_000;

/** What is remembered of an authorization beside its secrets. */
export type Authorization = Pick<
  OauthStateRecord,
  'provider' | 'purpose' | 'redirectUrl' | 'fingerprintHash' | 'identityId' | 'sessionId'
>;

/** What says that a browser has come back from the provider it was sent to. */
export interface Return {
  provider: string;
  state: string;
  /** Of its cookie. */
  browserSecret: string | undefined;
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** States and the secrets of browsers are kept as this: who reads the store can end no authorization, and use no token. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Authorizations under way. */
export function createOauthStates(storage: Storage) {
  const States = storage.model(oauthStateModel);
  return {
    newSecrets: (): AuthorizationSecrets => ({ state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() }),

    /** Remembers an authorization. @returns the secret for the cookie of the browser that begins it */
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
     * Ends an authorization, once: of many at once, one gets it. Another browser gets nothing, and takes nothing from the right one.
     * @throws authenticationErrors.unverified when it is unknown, expired, ended, of another provider, or another browser's
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
