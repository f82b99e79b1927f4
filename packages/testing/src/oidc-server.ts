import { generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Configuration, Provider } from 'oidc-provider';
import type { Browser } from './browser.js';
import type { RestAnswer } from './contract.js';
import { createOidcMemory } from './oidc-adapter.js';

/** The provider's data of an account: its claims. */
export interface OidcAccount {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
}

/** A person's choice on the provider's page. */
export type OidcChoice<Account extends OidcAccount = OidcAccount> = { account: Account } | { refuse: true };

export const CLIENT_SECRET = 'the secret of a client of the tests';

interface OidcServerOptions {
  /** Paths of its issuers below its address. Default one, at the root. */
  issuers?: readonly string[];
  configuration: Configuration;
  /** The path of authorizations below an issuer. Default `/auth`. */
  authorizationPath?: string;
  /** The scopes that people agree to. Default `openid email`. */
  scope?: string;
  /** Answers what the library does not. @returns whether it did */
  answer?(url: URL, res: http.ServerResponse): boolean;
  /** Changes an address before it is answered: an issuer's own names for others. */
  route?(url: URL): void;
  /** Changes an issuer's discovery document. */
  publish?(document: Record<string, unknown>): void;
  prepare?(provider: Provider): void;
}

/** What a test may do with the traffic of browser and server with a provider. */
export interface Tampering {
  authorization?: (parameters: URLSearchParams) => void;
  tokens?: (answer: Record<string, unknown>) => void;
  /** Answers in place of the provider. @returns whether it did */
  answer?: (path: string, res: http.ServerResponse) => boolean;
}

/** A real OpenID Connect server on loopback. */
export interface OidcServer {
  url: string;
  /** The parameters of authorization requests, newest last. */
  authorizations: URLSearchParams[];
  /** The bodies of token requests, newest last. */
  tokenRequests: Record<string, unknown>[];
  tamper: Tampering;
  /** Opens the provider's page at `address` and chooses there. @returns the answer that sends the browser back */
  choose(browser: Browser, address: string, choice: OidcChoice): Promise<RestAnswer>;
  stop(): Promise<void>;
}

/** The keys of a provider, for its configuration. */
export function oidcKeys(alg: 'ES256' | 'RS256'): Configuration['jwks'] {
  const { privateKey } =
    alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { keys: [{ ...privateKey.export({ format: 'jwk' }), alg, use: 'sig' }] };
}

async function readJson(req: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Starts one. Loads the library on demand: most tests do not need it. */
export async function startOidcServer(options: OidcServerOptions): Promise<OidcServer> {
  const { issuers = [''], authorizationPath = '/auth', scope = 'openid email', route, publish, prepare } = options;
  const { default: OidcProviderOfLibrary } = await import('oidc-provider');
  const accounts = new Map<string, OidcAccount>();
  const authorizations: URLSearchParams[] = [];
  const tokenRequests: Record<string, unknown>[] = [];
  const tamper: Tampering = {};
  const adapter = createOidcMemory();

  function createProvider(issuer: string): Provider {
    const provider = new OidcProviderOfLibrary(url + issuer, {
      adapter,
      cookies: { keys: ['of the tests'] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ ...accounts.get(sub), sub }) }),
      interactions: { url: (_ctx, { uid }) => `${issuer}/interaction/${uid}` },
      renderError(ctx, { error }) {
        ctx.body = { error };
      },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      ...options.configuration,
    });
    provider.use(async (ctx, next) => {
      await next();
      if (ctx.path === '/.well-known/openid-configuration') publish?.(ctx.body as Record<string, unknown>);
      if (!ctx.path.endsWith('/token')) return;
      tokenRequests.push({ ...(ctx.oidc as { body?: object }).body });
      tamper.tokens?.(ctx.body as Record<string, unknown>);
    });
    prepare?.(provider);
    return provider;
  }

  async function decide(idp: Provider, req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const { account } = (await readJson(req)) as { account?: OidcAccount };
    if (!account) {
      await idp.interactionFinished(req, res, { error: 'access_denied', error_description: 'The person refused' });
      return;
    }
    accounts.set(account.sub, account);
    const grant = new idp.Grant({ accountId: account.sub, clientId: 'tandem' });
    grant.addOIDCScope(scope);
    const result = { login: { accountId: account.sub }, consent: { grantId: await grant.save() } };
    await idp.interactionFinished(req, res, result);
  }

  const server = http.createServer((req, res) => {
    const asked = new URL(req.url ?? '/', url);
    if (tamper.answer?.(asked.pathname, res) || options.answer?.(asked, res)) return;
    route?.(asked);
    const [issuer, provider] = providers.find(([path]) => asked.pathname.startsWith(`${path}/`)) ?? [];
    if (issuer === undefined || !provider) {
      res.destroy();
      return;
    }
    const path = asked.pathname.slice(issuer.length);
    if (path.startsWith('/interaction/')) {
      if (req.method === 'POST') void decide(provider, req, res);
      else res.end('Who are you, and do you agree?');
      return;
    }
    if (path === authorizationPath) {
      authorizations.push(new URLSearchParams(asked.search));
      tamper.authorization?.(asked.searchParams);
    }
    req.url = path + asked.search;
    if (issuer !== '') Object.assign(req, { originalUrl: issuer + req.url });
    void provider.callback()(req, res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const providers = issuers.map((issuer) => [issuer, createProvider(issuer)] as const);

  return {
    url,
    authorizations,
    tokenRequests,
    tamper,
    async choose(browser, address, choice) {
      const page = await browser.goTo(address);
      const answer = await browser.send('POST', page, choice);
      return browser.send('GET', new URL(answer.headers.get('location') ?? '', page).href);
    },
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
