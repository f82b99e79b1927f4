import { createHash, randomInt, randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from './browser.js';
import type { Tampering } from './oidc-server.js';

interface GitHubEmail {
  email: string;
  primary: boolean;
  verified: boolean;
  visibility: 'public' | 'private' | null;
}

/** An account as GitHub describes it. */
export interface GitHubAccount {
  id: number;
  login: string;
  /** The public address of the profile. */
  email: string | null;
  emails: GitHubEmail[];
}

type Choice = { account: GitHubAccount; withoutEmails?: boolean } | { refuse: true };

/** GitHub on loopback, with the endpoints and answers of its documentation. Stops with `await using`. */
export interface GitHubServer extends AsyncDisposable {
  settings: {
    clientId: string;
    clientSecret: string;
    endpoints: { authorization: string; token: string; account: string; emails: string };
  };
  /** The parameters of authorization requests, newest last. */
  authorizations: URLSearchParams[];
  /** The bodies of token requests, newest last. */
  tokenRequests: Record<string, unknown>[];
  /** Requests to its API, newest last: paths and headers. */
  asked: { path: string; headers: http.IncomingHttpHeaders }[];
  tamper: Tampering;
  /** Agrees or refuses as the account signed in in the browser; returns the callback URL. */
  visit(browser: Browser, address: string, choice: Choice): Promise<string>;
  stop(): Promise<void>;
}

const SECRET = 'the secret of an OAuth app';
const DOCS = 'https://docs.github.com';
/** Addresses on a page, where a request asks for no other number. */
const PAGE = '30';

/** A new account whose primary address is verified and private. */
export function newGitHubAccount(given: Partial<GitHubAccount> = {}): GitHubAccount {
  const id = randomInt(1, 2 ** 40);
  const emails: GitHubEmail[] = [
    { email: `other-${id}@example.org`, primary: false, verified: true, visibility: null },
    { email: `${id}@example.org`, primary: true, verified: true, visibility: 'private' },
    { email: `${id}+octocat@users.noreply.github.com`, primary: false, verified: true, visibility: null },
  ];
  return { id, login: 'octocat', email: `other-${id}@example.org`, emails, ...given };
}

async function readForm(req: http.IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return Object.fromEntries(new URLSearchParams(text));
}

/** Starts one. */
export async function startGitHubServer({ name = 'github' } = {}): Promise<GitHubServer> {
  const authorizations: URLSearchParams[] = [];
  const tokenRequests: Record<string, unknown>[] = [];
  const asked: GitHubServer['asked'] = [];
  const tamper: Tampering = {};
  const codes = new Map<string, { challenge: string | null; redirectUri: string; scope: string; account: GitHubAccount }>();
  const tokens = new Map<string, { account: GitHubAccount; scope: string }>();

  function sendJson(res: http.ServerResponse, status: number, value: unknown): void {
    res.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
  }

  function authorize(query: URLSearchParams, res: http.ServerResponse): void {
    const choice = JSON.parse(query.get('choice') ?? '{}') as Partial<Extract<Choice, { account: GitHubAccount }>>;
    query.delete('choice');
    authorizations.push(new URLSearchParams(query));
    tamper.authorization?.(query);
    const redirectUri = query.get('redirect_uri') ?? '';
    const back = new URL(redirectUri);
    if (!new RegExp(`^http://127.0.0.1:\\d+/auth/oauth/${name}/callback$`).test(redirectUri))
      back.searchParams.set('error', 'redirect_uri_mismatch'); // prettier-ignore
    else if (choice.account) {
      const code = randomUUID().replaceAll('-', '').slice(0, 20);
      const scope = choice.withoutEmails ? '' : (query.get('scope') ?? '');
      codes.set(code, { challenge: query.get('code_challenge'), redirectUri, scope, account: choice.account });
      back.searchParams.set('code', code);
    } else {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The user has denied your application access.');
      back.searchParams.set('error_uri', `${DOCS}/apps/managing-oauth-apps/troubleshooting-authorization-request-errors`);
    }
    back.searchParams.set('state', query.get('state') ?? '');
    back.searchParams.set('iss', `${url}/login/oauth`);
    res.writeHead(302, { location: back.href }).end();
  }

  /** What the exchange of a code answers: failures too have the status 200. */
  function exchange(form: Record<string, string>): Record<string, unknown> {
    const failure = (error: string) => ({ error, error_description: 'of the tests', error_uri: `${DOCS}/apps#${error}` });
    if (form.client_id !== 'tandem' || form.client_secret !== SECRET) return failure('incorrect_client_credentials');
    const given = codes.get(form.code ?? '');
    if (!given) return failure('bad_verification_code');
    if (form.redirect_uri !== given.redirectUri) return failure('redirect_uri_mismatch');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    if (given.challenge !== null && given.challenge !== challenge) return failure('bad_verification_code');
    codes.delete(form.code ?? '');
    const token = `gho_${randomUUID().replaceAll('-', '')}`;
    tokens.set(token, given);
    return { access_token: token, scope: given.scope, token_type: 'bearer' };
  }

  async function giveToken(req: http.IncomingMessage, res: http.ServerResponse): Promise<void> {
    const form = await readForm(req);
    tokenRequests.push(form);
    const answer = exchange(form);
    tamper.tokens?.(answer);
    if (req.headers.accept?.includes('application/json')) return sendJson(res, 200, answer);
    const text = new URLSearchParams(answer as Record<string, string>).toString();
    res.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }).end(text);
  }

  function describe({ pathname, searchParams }: URL, { headers }: http.IncomingMessage, res: http.ServerResponse): void {
    asked.push({ path: pathname, headers });
    const [scheme = '', token = ''] = headers.authorization?.split(' ') ?? [];
    const given = /^(bearer|token)$/i.test(scheme) ? tokens.get(token) : undefined;
    if (headers['user-agent'] === undefined) return sendJson(res, 403, { message: 'Request forbidden by administrative rules.' });
    if (!given) return sendJson(res, 401, { message: 'Bad credentials', documentation_url: `${DOCS}/rest`, status: '401' });
    const { account, scope } = given;
    const notFound = { message: 'Not Found', documentation_url: `${DOCS}/rest`, status: '404' };
    if (pathname === '/user') return sendJson(res, 200, { login: account.login, id: account.id, node_id: 'MDQ6VXNlcjE=', type: 'User', email: account.email }); // prettier-ignore
    if (pathname !== '/user/emails' || !/\b(user|user:email)\b/.test(scope)) return sendJson(res, 404, notFound);
    const [perPage, page] = [
      Math.min(Number(searchParams.get('per_page') ?? PAGE), 100),
      Number(searchParams.get('page') ?? '1'),
    ];
    sendJson(res, 200, account.emails.slice((page - 1) * perPage, page * perPage));
  }

  const server = http.createServer((req, res) => {
    const url = new URL(req.url ?? '', 'http://127.0.0.1');
    if (tamper.answer?.(url.pathname, res)) return;
    if (url.pathname === '/login/oauth/authorize') authorize(url.searchParams, res);
    else if (url.pathname === '/login/oauth/access_token') void giveToken(req, res);
    else describe(url, req, res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function stop(): Promise<void> {
    if (!server.listening) return;
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }

  return {
    settings: {
      clientId: 'tandem',
      clientSecret: SECRET,
      endpoints: {
        authorization: `${url}/login/oauth/authorize`,
        token: `${url}/login/oauth/access_token`,
        account: `${url}/user`,
        emails: `${url}/user/emails?per_page=100`,
      },
    },
    authorizations,
    tokenRequests,
    asked,
    tamper,
    visit(browser, address, choice) {
      const page = new URL(address);
      if ('account' in choice) page.searchParams.set('choice', JSON.stringify(choice));
      return browser.goTo(page.href);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
