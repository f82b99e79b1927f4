import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from './browser.js';

/** An account as X describes it. */
export interface OAuth2Account {
  id?: string;
  confirmed_email?: string;
}

/** An OAuth 2 server without OpenID Connect, with X's endpoints and answers, on loopback. Stops with `await using`. */
export interface OAuth2Server extends AsyncDisposable {
  /** The settings for a server that uses it. */
  settings: {
    clientId: string;
    clientSecret: string;
    endpoints: { authorization: string; token: string; account: string };
  };
  /** The parameters of authorization requests, newest last. */
  authorizations: URLSearchParams[];
  /** Agrees or refuses as the identity signed in in the browser; returns the callback URL. */
  visit(browser: Browser, address: string, choice: { account: OAuth2Account } | { refuse: true }): Promise<string>;
}

const SECRET = 'the secret of an app';

async function readForm(req: http.IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return new URLSearchParams(text);
}

/** Starts one. Like X, it requires PKCE, the secret in the header, and the registered redirect URL. */
export async function startOAuth2Server(): Promise<OAuth2Server> {
  const authorizations: URLSearchParams[] = [];
  const codes = new Map<string, { challenge: string; redirectUri: string; account: OAuth2Account }>();
  const accounts = new Map<string, OAuth2Account>();

  function authorize(query: URLSearchParams, res: http.ServerResponse): void {
    authorizations.push(query);
    const account = JSON.parse(query.get('account') ?? 'null') as OAuth2Account | null;
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('state', query.get('state') ?? '');
    if (account) {
      const code = randomUUID();
      codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri: query.get('redirect_uri') ?? '', account });
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', 'access_denied');
    res.writeHead(302, { location: back.href }).end();
  }

  async function exchange(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const form = await readForm(req);
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const [id, secret] = Buffer.from(req.headers.authorization?.split(' ')[1] ?? '', 'base64').toString().split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' '))); // prettier-ignore
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight = id === 'tandem' && secret === SECRET && challenge === code?.challenge && form.get('redirect_uri') === code.redirectUri; // prettier-ignore
    res.setHeader('content-type', 'application/json');
    if (!isRight) return void res.writeHead(400).end('{"error":"invalid_grant"}');
    const token = randomUUID();
    accounts.set(token, code.account);
    res.end(JSON.stringify({ access_token: token, token_type: 'bearer', expires_in: 7200 }));
  }

  const server = http.createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname === '/authorize') return authorize(searchParams, res);
    if (pathname === '/token') return void exchange(req, res);
    const account = accounts.get(req.headers.authorization?.split(' ')[1] ?? '');
    res.writeHead(account ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify({ data: account }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    settings: {
      clientId: 'tandem',
      clientSecret: SECRET,
      endpoints: { authorization: `${url}/authorize`, token: `${url}/token`, account: `${url}/me?user.fields=confirmed_email` },
    },
    authorizations,
    visit(browser, address, choice) {
      const page = new URL(address);
      if ('account' in choice) page.searchParams.set('account', JSON.stringify(choice.account));
      return browser.goTo(page.href);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
