import { randomUUID } from 'node:crypto';
import type { Browser } from './browser.js';
import { CLIENT_SECRET, oidcKeys, startOidcServer, type OidcAccount, type OidcChoice, type OidcServer } from './oidc-server.js';

export interface OidcProviderOptions {
  /** Names of this provider on the tested server. Default `acme`. */
  names?: readonly string[];
  /**
   * Whether the ID token contains the claims of scopes, instead of only the userinfo endpoint. Default false, as in the
   * standard.
   */
  claimsInIdToken?: boolean;
  /** Algorithm of ID tokens. Default ES256. */
  idTokenAlgorithm?: 'ES256' | 'HS256';
}

/** A real OpenID Connect provider on loopback, which a test may tamper with. Stops with `await using`. */
export interface OidcProvider extends AsyncDisposable, Pick<OidcServer, 'authorizations' | 'tokenRequests' | 'tamper' | 'stop'> {
  /** The settings for a server that uses it. */
  settings: { clientId: string; clientSecret: string; issuer: string };
  /**
   * Opens the provider's page at `address`, chooses there, and returns the URL to which the provider redirects the
   * browser.
   */
  visit(browser: Browser, address: string, choice: OidcChoice): Promise<string>;
}

/** A new account with a verified email. */
export function newOidcAccount(given: Partial<OidcAccount> = {}): OidcAccount {
  const sub = randomUUID();
  return { sub, email: `${sub}@example.org`, email_verified: true, ...given };
}

/** Starts one. */
export async function startOidcProvider({
  names = ['acme'],
  claimsInIdToken = false,
  idTokenAlgorithm = 'ES256',
}: OidcProviderOptions = {}): Promise<OidcProvider> {
  const { url, choose, ...server } = await startOidcServer({
    configuration: {
      clients: [
        {
          client_id: 'tandem',
          client_secret: CLIENT_SECRET,
          // a native client may use any loopback port; the server's is not known yet
          application_type: 'native',
          redirect_uris: names.map((name) => `http://127.0.0.1/auth/oauth/${name}/callback`),
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: idTokenAlgorithm,
        },
      ],
      jwks: oidcKeys('ES256'),
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: !claimsInIdToken,
      enabledJWA: { idTokenSigningAlgValues: ['ES256', 'HS256'] },
      pkce: { required: () => true },
    },
  });
  return {
    ...server,
    settings: { clientId: 'tandem', clientSecret: CLIENT_SECRET, issuer: url },
    async visit(browser, address, choice) {
      const { headers } = await choose(browser, address, choice);
      return headers.get('location') ?? '';
    },
    [Symbol.asyncDispose]: server.stop,
  };
}
