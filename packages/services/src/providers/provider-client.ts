import * as openid from 'openid-client';
import { Email } from '../shared/schemas.js';
import { createOAuth2Source } from './oauth2-source.js';
import { createOpenIdSource } from './openid-source.js';
import type { ProviderDefinition } from './provider-settings.js';

/** Seconds that one request to a provider may take: one that is away is given up well before the deadline of the person's request. */
const TIMEOUT_SECONDS = 5;

/** Secrets of one authorization, which prove at its end that it is the one that was begun. */
export interface AuthorizationSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** What a provider says of an account. */
export interface ProvidersAccount {
  subject: string;
  /** Trimmed and lower-cased; undefined where there is none, or it is no address. */
  email: string | undefined;
  isEmailVerified: boolean;
}

/** Longest name of an account (OpenID Connect Core, section 2). */
const SUBJECT_MAX_LENGTH = 255;

/** An identity provider as the service sees it: where to send a browser, and whose account it comes back with. */
export function createProviderClient(definition: ProviderDefinition, callbackUrl: string) {
  const source =
    'issuer' in definition ? createOpenIdSource(definition, TIMEOUT_SECONDS) : createOAuth2Source(definition, TIMEOUT_SECONDS);

  return {
    name: definition.name,

    /** Where the browser goes to sign in there. @throws whatever went wrong at the provider */
    async authorizationUrl({ state, nonce, codeVerifier }: AuthorizationSecrets): Promise<string> {
      const url = openid.buildAuthorizationUrl(await source.configuration(), {
        redirect_uri: callbackUrl,
        scope: definition.scope,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(source.usesNonce && { nonce }),
      });
      return url.href;
    },

    /**
     * Whose account a browser has come back with.
     * @param parameters of the callback: `code`, and `iss` where the provider names itself
     * @throws whatever went wrong at the provider, a token that is not of this authorization included
     */
    async accountOf(
      parameters: { code?: string | undefined; iss?: string | undefined },
      { state, nonce, codeVerifier }: AuthorizationSecrets,
      withEmail: boolean,
    ): Promise<ProvidersAccount> {
      const configuration = await source.configuration();
      const url = new URL(callbackUrl);
      for (const [name, value] of Object.entries({ ...parameters, state }))
        if (value !== undefined) url.searchParams.set(name, value);
      const tokens = await openid.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        pkceCodeVerifier: codeVerifier,
        ...(source.usesNonce && { expectedNonce: nonce, idTokenExpected: true }),
      });
      const { subject, email, isEmailVerified } = await source.readAccount(configuration, tokens, withEmail);
      if (typeof subject !== 'string' || subject === '' || subject.length > SUBJECT_MAX_LENGTH)
        throw new Error('the provider names no account');
      return { subject, email: Email.safeParse(email).data, isEmailVerified };
    },
  };
}
export type ProviderClient = ReturnType<typeof createProviderClient>;
