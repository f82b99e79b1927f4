import { generateKeyPairSync, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Configuration, Provider } from 'oidc-provider';
import type { Browser } from './browser.js';
import { createOidcMemory } from './oidc-adapter.js';

/** The provider's data of an account. */
export interface OidcAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
}

/** A person's choice on the provider's page. */
export type OidcChoice = { account: OidcAccount } | { refuse: true };

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
export interface OidcProvider extends AsyncDisposable {
  /** The settings for a server that uses it. */
  settings: { clientId: string; clientSecret: string; issuer: string };
  /** The parameters of authorization requests, newest last. */
  authorizations: URLSearchParams[];
  /** The bodies of token requests, newest last. */
  tokenRequests: Record<string, unknown>[];
  /** Intercepts the traffic of browser and server with the provider. */
  tamper: { authorization?: (parameters: URLSearchParams) => void; tokens?: (answer: Record<string, unknown>) => void };
  /**
   * Opens the provider's page at `address`, chooses there, and returns the URL to which the provider redirects the
   * browser.
   */
  visit(browser: Browser, address: string, choice: OidcChoice): Promise<string>;
  stop(): Promise<void>;
}

const CLIENT_SECRET = 'the secret of a client of the tests';

/** A new account with a verified email. */
export function newOidcAccount(given: Partial<OidcAccount> = {}): OidcAccount {
  const sub = randomUUID();
  return { sub, email: `${sub}@example.org`, email_verified: true, ...given };
}

function configure(options: Required<OidcProviderOptions>, accounts: Map<string, OidcAccount>): Configuration {
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return {
    adapter: createOidcMemory(),
    clients: [
      {
        client_id: 'tandem',
        client_secret: CLIENT_SECRET,
        // a native client may use any loopback port; the server's is not known yet
        application_type: 'native',
        redirect_uris: options.names.map((name) => `http://127.0.0.1/auth/oauth/${name}/callback`),
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: options.idTokenAlgorithm,
      },
    ],
    jwks: { keys: [{ ...key, alg: 'ES256', use: 'sig' }] },
    cookies: { keys: ['of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: !options.claimsInIdToken,
    enabledJWA: { idTokenSigningAlgValues: ['ES256', 'HS256'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub), sub }) }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    renderError(ctx, { error }) {
      ctx.body = { error };
    },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  };
}

async function readJson(req: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Starts one. Loads the library on demand: most tests do not need it. */
export async function startOidcProvider(given: OidcProviderOptions = {}): Promise<OidcProvider> {
  const options = { names: ['acme'], claimsInIdToken: false, idTokenAlgorithm: 'ES256' as const, ...given };
  const { default: OidcProviderOfLibrary } = await import('oidc-provider');
  const accounts = new Map<string, OidcAccount>();
  const authorizations: URLSearchParams[] = [];
  const tokenRequests: Record<string, unknown>[] = [];
  const tamper: OidcProvider['tamper'] = {};
  let provider: Provider | undefined;

  async function choose(idp: Provider, req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const { account } = (await readJson(req)) as { account?: OidcAccount };
    if (!account) {
      await idp.interactionFinished(req, res, { error: 'access_denied', error_description: 'The person refused' });
      return;
    }
    accounts.set(account.sub, account);
    const grant = new idp.Grant({ accountId: account.sub, clientId: 'tandem' });
    grant.addOIDCScope('openid email');
    const result = { login: { accountId: account.sub }, consent: { grantId: await grant.save() } };
    await idp.interactionFinished(req, res, result);
  }

  const server = http.createServer((req, res) => {
    if (!provider) {
      res.destroy();
      return;
    }
    const url = new URL(req.url ?? '/', issuer);
    if (url.pathname.startsWith('/interaction/')) {
      if (req.method === 'POST') void choose(provider, req, res);
      else res.end('Who are you, and do you agree?');
      return;
    }
    if (url.pathname === '/auth') {
      authorizations.push(new URLSearchParams(url.search));
      tamper.authorization?.(url.searchParams);
      req.url = url.pathname + url.search;
    }
    void provider.callback()(req, res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  provider = new OidcProviderOfLibrary(issuer, configure(options, accounts));
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== '/token') return;
    tokenRequests.push({ ...(ctx.oidc as { body?: object }).body });
    tamper.tokens?.(ctx.body as Record<string, unknown>);
  });

  async function stop(): Promise<void> {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }

  return {
    settings: { clientId: 'tandem', clientSecret: CLIENT_SECRET, issuer },
    authorizations,
    tokenRequests,
    tamper,
    async visit(browser, address, choice) {
      const page = await browser.goTo(address);
      const answer = await browser.send('POST', page, choice);
      return browser.goTo(new URL(answer.headers.get('location') ?? '', page).href);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
