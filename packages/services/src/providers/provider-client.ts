import * as openid from 'openid-client';
import { Email } from '../shared/schemas.js';
import { createMicrosoftSource } from './microsoft-source.js';
import { createOAuth2Source } from './oauth2-source.js';
import { createOpenIdSource } from './openid-source.js';
import type { ProviderDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';

/** Time limit for one request to a provider, in seconds; well below the limit of the caller's request. */
const TIMEOUT_SECONDS = 5;

/** Secrets of one authorization, which its callback must match. */
export interface AuthorizationSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** An account as a provider describes it. */
export interface ProvidersAccount {
  subject: string;
  /** Trimmed and lower-cased; undefined if missing or malformed. */
  email: string | undefined;
  isEmailVerified: boolean;
}

/** Maximum length of an account id (OpenID Connect Core, section 2). */
const SUBJECT_MAX_LENGTH = 255;

function createSource(definition: ProviderDefinition): ProviderSource {
  if (definition.kind === 'oauth2') return createOAuth2Source(definition, TIMEOUT_SECONDS);
  if (definition.kind === 'microsoft') return createMicrosoftSource(definition, TIMEOUT_SECONDS);
  return createOpenIdSource(definition, TIMEOUT_SECONDS);
}

/** An identity provider: builds authorization addresses, and reads the account a browser returns with. */
export function createProviderClient(definition: ProviderDefinition, callbackUrl: string) {
  const source = createSource(definition);

  return {
    name: definition.name,
    returnsByForm: source.returnsByForm,

    /** Whether it can be used: its addresses are known. @throws any failure of the provider */
    verify: async (): Promise<void> => void (await source.configuration()),

    /** The address at which the browser signs in. @throws any failure of the provider */
    async authorizationUrl({ state, nonce, codeVerifier }: AuthorizationSecrets): Promise<string> {
      const url = openid.buildAuthorizationUrl(await source.configuration(), {
        redirect_uri: callbackUrl,
        scope: definition.scope,
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(source.usesNonce && { nonce }),
        ...(source.returnsByForm && { response_mode: 'form_post' }),
      });
      return url.href;
    },

    /**
     * The account that a browser returns with.
     * @param parameters of the callback: `code`, and `iss` if the provider sends it
     * @throws any failure of the provider, including a token of another authorization
     */
    async accountOf(
      parameters: { code?: string | undefined; iss?: string | undefined },
      { state, nonce, codeVerifier }: AuthorizationSecrets,
      withEmail: boolean,
    ): Promise<ProvidersAccount> {
      const configuration = await source.configuration();
      const url = new URL(callbackUrl);
      const { issuer } = configuration.serverMetadata();
      // an issuer with a place for the tenant is compared in the ID token
      const isComparable = source.knowsIssuer && !issuer.includes('{');
      const iss = isComparable || parameters.iss === undefined ? parameters.iss : issuer;
      for (const [name, value] of Object.entries({ ...parameters, iss, state }))
        if (value !== undefined) url.searchParams.set(name, value);
      const tokens = await openid.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        pkceCodeVerifier: codeVerifier,
        ...(source.usesNonce && { expectedNonce: nonce, idTokenExpected: true }),
      });
      const { subject, email, isEmailVerified } = await source.readAccount(configuration, tokens, withEmail);
      if (typeof subject !== 'string' || subject === '' || subject.length > SUBJECT_MAX_LENGTH)
        throw new Error('the provider did not name an account');
      return { subject, email: Email.safeParse(email).data, isEmailVerified };
    },
  };
}
export type ProviderClient = ReturnType<typeof createProviderClient>;
