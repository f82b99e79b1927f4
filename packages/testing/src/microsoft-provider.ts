import { randomUUID } from 'node:crypto';
import type { Browser } from './browser.js';
import { CLIENT_SECRET, oidcKeys, startOidcServer, type OidcAccount, type OidcChoice, type OidcServer } from './oidc-server.js';

/** An account as Microsoft's ID tokens describe it. */
export interface MicrosoftAccount extends OidcAccount {
  oid?: string;
  /** The tenant it says it is of. Default that in which it is. */
  tid?: string;
  preferred_username?: string;
  xms_edov?: unknown;
  /** The tenant in which the person signs in. Default the first. */
  tenant?: string;
}

/** Microsoft, as it answers: one door for all tenants, and issuers that name the tenant. Stops with `await using`. */
export interface MicrosoftProvider
  extends AsyncDisposable, Pick<OidcServer, 'url' | 'authorizations' | 'tokenRequests' | 'tamper' | 'stop'> {
  settings: { clientId: string; clientSecret: string; issuer: string; tenant: string };
  tenants: [string, string];
  visit(browser: Browser, address: string, choice: OidcChoice<MicrosoftAccount>): Promise<string>;
}

/** A new account whose address the owner of its domain has verified. */
export function newMicrosoftAccount(given: Partial<MicrosoftAccount> = {}): MicrosoftAccount {
  const oid = randomUUID();
  const email = `${oid}@contoso.example`;
  // differs with the application; nobody is known by it
  const sub = `sub-${randomUUID()}`;
  return { sub, oid, email, preferred_username: email, xms_edov: true, ...given };
}

/** Starts one with two tenants. */
export async function startMicrosoftProvider(): Promise<MicrosoftProvider> {
  const tenants: [string, string] = [randomUUID(), randomUUID()];
  /** Where the newest visit ended: its code is exchanged at the one door. */
  let entered = tenants[0];

  const { url, choose, ...server } = await startOidcServer({
    issuers: tenants.map((tenant) => `/${tenant}/v2.0`),
    scope: 'openid profile email',
    configuration: {
      clients: [
        {
          client_id: 'tandem',
          client_secret: CLIENT_SECRET,
          application_type: 'native',
          redirect_uris: ['microsoft', 'work'].map((name) => `http://127.0.0.1/auth/oauth/${name}/callback`),
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: 'RS256',
        },
      ],
      jwks: oidcKeys('RS256'),
      claims: { openid: ['sub', 'tid'], email: ['email', 'email_verified', 'xms_edov'], profile: ['oid', 'preferred_username'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
    },
    answer({ pathname, origin }, res) {
      if (pathname !== '/common/v2.0/.well-known/openid-configuration') return false;
      const endpoints = {
        issuer: `${origin}/{tenantid}/v2.0`,
        authorization_endpoint: `${origin}/common/oauth2/v2.0/authorize`,
        token_endpoint: `${origin}/common/oauth2/v2.0/token`,
        jwks_uri: `${origin}/common/discovery/v2.0/keys`,
        userinfo_endpoint: `${origin}/oidc/userinfo`,
        token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
        id_token_signing_alg_values_supported: ['RS256'],
        response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
        subject_types_supported: ['pairwise'],
      };
      res.setHeader('content-type', 'application/json').end(JSON.stringify(endpoints));
      return true;
    },
    route(asked) {
      const name = { '/common/oauth2/v2.0/token': 'token', '/common/discovery/v2.0/keys': 'jwks', '/oidc/userinfo': 'me' }[asked.pathname]; // prettier-ignore
      if (name !== undefined) asked.pathname = `/${entered}/v2.0/${name}`;
    },
    publish(document) {
      delete document.authorization_response_iss_parameter_supported;
      delete document.code_challenge_methods_supported;
    },
  });

  return {
    ...server,
    url,
    settings: { clientId: 'tandem', clientSecret: CLIENT_SECRET, issuer: `${url}/common/v2.0`, tenant: 'common' },
    tenants,
    async visit(browser, address, choice) {
      const { tenant = tenants[0], ...account } = 'account' in choice ? choice.account : { sub: '' };
      entered = tenant;
      const inTenant = address.replace('/common/oauth2/v2.0/authorize', `/${tenant}/v2.0/auth`);
      const { headers } = await choose(browser, inTenant, 'account' in choice ? { account: { tid: tenant, ...account } } : choice); // prettier-ignore
      const callback = new URL(headers.get('location') ?? '');
      callback.searchParams.delete('iss');
      return callback.href;
    },
    [Symbol.asyncDispose]: server.stop,
  };
}
