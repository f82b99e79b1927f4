import {
  FACES,
  PASSWORD,
  cookiesOf,
  fixture,
  isCommand,
  sendRaw,
  startStoreProxy,
  startTestServer,
  type Face,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel } from './sessions/session.model.js';

const COOKIES = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
const PUBLIC_URL = 'https://app.example.org/base';
const NO_COOKIE = { status: 401, message: 'Unable to detect access token' };
const MISMATCH = { status: 422, message: 'Cookie and bearer did not match' };
const UNVERIFIED = { status: 401, message: 'token could not be verified' };
const ELSEWHERE = { status: 403, message: 'Origin is not allowed' };
const PASSED = { status: 200, message: undefined };

const app = fixture(() =>
  startTestServer({ authModes: COOKIES, publicUrl: PUBLIC_URL, corsOrigins: ['https://other.example.org'] }),
);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

async function send(
  face: Face,
  procedure: 'identities.get' | 'auth.deleteRefreshTokens',
  headers: Record<string, string>,
  id = ann.id,
) {
  const input = JSON.stringify({ identityId: id });
  const isRead = procedure === 'identities.get';
  const rest = isRead ? (['GET', `/identities/${id}`] as const) : (['DELETE', `/auth/${id}/refresh-tokens`] as const);
  const query = isRead ? `?input=${encodeURIComponent(input)}` : '';
  const [method, path] = face === 'rest' ? rest : ([isRead ? 'GET' : 'POST', `/trpc/${procedure}${query}`] as const);
  const { status, body } = await sendRaw(app.url + path, {
    method,
    headers: Object.entries(headers).flat(),
    ...(face === 'trpc' && !isRead && { body: input }),
  });
  return { status, message: (body as { error?: { message: string } } | undefined)?.error?.message };
}
const cookie = (accessToken: string) => ({ cookie: `accessToken=${accessToken}` });

describe.each(FACES)('in cookie mode, a request over %s', (face) => {
  it('acts as the identity in the cookie', async () => {
    expect(await send(face, 'identities.get', cookie(ann.accessToken))).toEqual(PASSED);
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({
      ok: true,
      value: { email: ann.email },
    });
  });

  it('answers 401 without the cookie, even with a valid bearer token or a cookie that is an object', async () => {
    const encoded = encodeURIComponent(`j:${JSON.stringify({ token: ann.accessToken })}`);
    const without = [{}, { authorization: `Bearer ${ann.accessToken}` }, { cookie: 'accessToken=' }, { cookie: 'accessToken=j:{}' }, { cookie: 'accessToken=j%3A%7B%7D' }, { cookie: `accessToken=${encoded}` }, { cookie: `refreshToken=${ann.refreshToken}` }, { cookie: `AccessToken=${ann.accessToken}` }]; // prettier-ignore
    for (const headers of without)
      expect(await send(face, 'identities.get', headers as Record<string, string>)).toEqual(NO_COOKIE);
  });

  it('answers 401 to a bad cookie, and Invalid token to a refresh token in its place', async () => {
    expect(await send(face, 'identities.get', cookie('garbage'))).toEqual(UNVERIFIED);
    expect(await send(face, 'identities.get', cookie(ann.refreshToken))).toEqual({ status: 401, message: 'Invalid token' });
  });

  it('answers 422 to a bearer token of another identity, and accepts one of the same', async () => {
    const both = (token: string) => ({ ...cookie(ann.accessToken), authorization: `Bearer ${token}` });
    expect(await send(face, 'identities.get', both(bob.accessToken))).toEqual(MISMATCH);
    expect(await send(face, 'identities.get', both((await app.signIn(ann.email)).accessToken))).toEqual(PASSED);
    expect(await send(face, 'identities.get', both('garbage'))).toEqual(UNVERIFIED);
    const fingerprinted = await app.signIn(ann.email, { fingerprint: 'f' });
    const headers = { ...cookie(fingerprinted.accessToken), authorization: `Bearer ${bob.accessToken}` };
    expect(await send(face, 'identities.get', headers)).toEqual(MISMATCH);
  });

  it('answers 422 to malformed headers before 401 to missing ones', async () => {
    const fingerprint = 'f'.repeat(513);
    expect(await send(face, 'identities.get', { 'x-nb-fingerprint': fingerprint })).toMatchObject({
      status: 422,
      message: 'Incorrect format of x-nb-fingerprint header',
    });
    expect(await send(face, 'identities.get', { authorization: 'Basic x' })).toMatchObject({ status: 422 });
  });

  it('may change state only from an allowed origin: Origin, else Referer; a request with neither is no browser’s', async () => {
    const { id, email } = await app.signUp();
    const change = async (headers: Record<string, string>) => {
      const { accessToken } = await app.signIn(email);
      return send(face, 'auth.deleteRefreshTokens', { ...cookie(accessToken), ...headers }, id);
    };
    const ownOrigin = new URL(PUBLIC_URL).origin;
    const done = { status: face === 'rest' ? 204 : 200, message: undefined };
    const allowed = [{}, { origin: ownOrigin }, { origin: 'https://other.example.org' }, { referer: `${ownOrigin}/page?q` }, { origin: ownOrigin, referer: 'https://evil.example' }]; // prettier-ignore
    for (const headers of allowed) expect(await change(headers as Record<string, string>), JSON.stringify(headers)).toEqual(done);
    const refused = ['https://evil.example', 'null', '', 'http://app.example.org', 'https://app.example.org:8443', 'https://app.example.org.evil.example', `${ownOrigin}, https://evil.example`, 'https://app.example.org@evil.example']; // prettier-ignore
    for (const origin of refused) {
      expect(await change({ origin }), origin).toEqual(ELSEWHERE);
      expect(await change({ referer: `${origin}/x` }), origin).toEqual(ELSEWHERE);
      expect(await change({ origin, referer: ownOrigin }), origin).toEqual(ELSEWHERE);
    }
  });

  it('may read from any origin', async () => {
    const headers = { ...cookie(ann.accessToken), origin: 'https://evil.example' };
    expect(await send(face, 'identities.get', headers)).toEqual(PASSED);
  });

  it.each([
    ['auth.login', () => ({ email: bob.email, password: PASSWORD })],
    ['auth.register', () => ({ email: `${crypto.randomUUID()}@example.org`, password: PASSWORD })],
    ['auth.refreshToken', () => ({})],
    ['auth.logout', () => ({})],
  ])('that nobody has to sign in for changes state only from an allowed origin: %s', async (procedure, input) => {
    const headers = { origin: 'https://evil.example' };
    expect(await app.call(face, procedure, input(), { headers })).toEqual({ ok: false, ...ELSEWHERE });
  });

  it('is authenticated before its origin is checked', async () => {
    expect(await send(face, 'auth.deleteRefreshTokens', { origin: 'https://evil.example' })).toEqual(NO_COOKIE);
  });
});

describe('the cookies', () => {
  const attributes = (lifetime: number) => `Max-Age=${lifetime}; Path=/; Expires=<date>; HttpOnly; Secure; SameSite=Strict`;
  const setCookies = (answer: { headers: Headers }) =>
    answer.headers
      .getSetCookie()
      // the token is some moments older than its cookie: shown is the next full minute
      .map((text) => text.replace(/Max-Age=(\d+)/, (_, age) => `Max-Age=${Math.ceil(Number(age) / 60) * 60}`))
      .map((text) => text.replace(/Expires=[^;]+/, 'Expires=<date>').replace(/=[^;]{100,}/, '=<token>'));

  it('are set by a login, each for the lifetime of its token; the body contains neither token', async () => {
    const answer = await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD });
    expect(answer).toMatchObject({ status: 200, body: { id: ann.id } });
    expect(Object.keys(answer.body as object)).toEqual(['id']);
    expect(setCookies(answer)).toEqual([
      `accessToken=<token>; ${attributes(15 * 60)}`,
      `refreshToken=<token>; ${attributes(14 * 24 * 3600)}`,
    ]);
  });

  it('are both replaced by a refresh, which answers 204 over REST and tRPC', async () => {
    const carol = await app.signUp();
    const answer = await app.rest('POST', '/auth/token/refresh', undefined, {
      headers: { cookie: `refreshToken=${carol.refreshToken}` },
    });
    expect(answer).toMatchObject({ status: 204, body: undefined });
    expect(setCookies(answer)).toEqual([
      `accessToken=<token>; ${attributes(15 * 60)}`,
      `refreshToken=<token>; ${attributes(14 * 24 * 3600)}`,
    ]);
    const renewed = cookiesOf(answer);
    expect(await send('rest', 'identities.get', cookie(renewed.accessToken ?? ''), carol.id)).toEqual(PASSED);

    const trpc = await sendRaw(`${app.url}/trpc/auth.refreshToken`, {
      method: 'POST',
      headers: ['cookie', `refreshToken=${renewed.refreshToken}`],
      body: '{}',
    });
    expect(trpc).toMatchObject({ status: 200, body: { result: {} } });
    expect(trpc.headers['set-cookie']?.map((text) => text.split('=', 1)[0])).toEqual(['accessToken', 'refreshToken']);
    expect(JSON.stringify(trpc.body)).not.toContain('eyJ');
  });

  it('cannot be set by a streamed answer: such a call is refused before any work', async () => {
    const carol = await app.signUp();
    const stream = async (procedure: string, input: object, accept: string) => {
      const headers = { 'content-type': 'application/json', [accept]: 'application/jsonl', ...carol.credentials.headers };
      const response = await fetch(`${app.url}/trpc/${procedure}?batch=1`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ 0: input }),
      });
      return response.text();
    };
    for (const [procedure, input] of [
      ['auth.login', { email: carol.email, password: PASSWORD }],
      ['auth.refreshToken', {}],
      ['auth.logout', {}],
    ] as const)
      for (const accept of ['accept', 'trpc-accept'])
        expect(await stream(procedure, input, accept)).toContain(
          'a call that sets cookies must not be streamed: use httpBatchLink',
        );
    expect(await app.storage.model(sessionModel).find({ identityId: carol.id }).lean()).toMatchObject([{ rotations: [] }]);
  });

  it('contain no refresh token if they are empty or an object', async () => {
    for (const value of ['', 'other=x', 'refreshToken=', 'refreshToken=j:{}', 'refreshToken=j%3A%7B%7D'])
      await app
        .rest('POST', '/auth/token/refresh', {}, { headers: { cookie: value } })
        .expect(422, 'Unable to find refresh token');
  });

  it('may be missing if the body has a token; two different tokens are refused', async () => {
    const [one, other] = [await app.signIn(ann.email), await app.signIn(ann.email)];
    const headers = { cookie: `refreshToken=${one.refreshToken}` };
    await app
      .rest('POST', '/auth/token/refresh', { refreshToken: other.refreshToken }, { headers })
      .expect(401, 'token could not be verified');
    await app.rest('POST', '/auth/token/refresh', { refreshToken: one.refreshToken }, { headers }).expect(204);
    await app.rest('POST', '/auth/token/refresh', { refreshToken: other.refreshToken }).expect(204);
  });

  it('are cleared by a logout with the attributes they were set with', async () => {
    const answer = await (await app.signIn(ann.email)).rest('POST', '/auth/logout');
    expect(answer.status).toBe(204);
    const cleared = 'Path=/; Expires=<date>; HttpOnly; Secure; SameSite=Strict';
    expect(setCookies(answer)).toEqual([`accessToken=; ${cleared}`, `refreshToken=; ${cleared}`]);
    expect(answer.headers.getSetCookie().join()).toContain('Expires=Thu, 01 Jan 1970');
  });

  it.each(FACES)('stay with a logout over %s that fails, so that it can be tried again', async (face) => {
    const stored = await app.signIn(ann.email);
    const proxy = await startStoreProxy(app.mongodbUri);
    const settings = { authModes: COOKIES, publicUrl: PUBLIC_URL, mongodbUri: proxy.uri, clock: app.clock };
    await using own = await startTestServer(settings);
    const path = face === 'rest' ? '/auth/logout' : '/trpc/auth.logout';
    const headers = ['cookie', `accessToken=${stored.accessToken}; refreshToken=${stored.refreshToken}`];
    const logout = () => sendRaw(own.url + path, { method: 'POST', headers, body: '{}' });
    const refused = proxy.answer(isCommand('sessions.findAndModify'), { ok: 0, code: 91, errmsg: 'refused' });
    const failed = await logout();
    await refused;
    expect([failed.status, failed.headers['set-cookie']]).toEqual([503, undefined]);
    const repeated = await logout();
    expect(repeated.status).toBe(face === 'rest' ? 204 : 200);
    expect(repeated.headers['set-cookie']).toHaveLength(2);
    await app
      .rest('POST', '/auth/token/refresh', {}, { headers: { cookie: headers[1] ?? '' } })
      .expect(422, 'Token was not found');
    await proxy.close();
  });

  it('have the domain, path, SameSite and Secure of the settings', async () => {
    const cookies = { domain: 'example.org', path: '/api', sameSite: 'lax', secure: false } as const;
    await using own = await startTestServer({ authModes: COOKIES, cookies });
    await own.rest('POST', '/auth/register', { email: 'dan@example.org', password: PASSWORD }).expect(201);
    const answer = await own.rest('POST', '/auth/login', { email: 'dan@example.org', password: PASSWORD });
    expect(setCookies(answer)[0]).toBe('accessToken=<token>; Max-Age=900; Domain=example.org; Path=/api; Expires=<date>; HttpOnly; SameSite=Lax'); // prettier-ignore
  });
});

describe('where only one service is in cookie mode', () => {
  it('the others accept bearer tokens and no cookie', async () => {
    await using own = await startTestServer({ authModes: { ...COOKIES, identities: 'bearer' } });
    const dora = await own.signUp();
    await own.rest('GET', `/identities/${dora.id}`, undefined, cookieHeaders(dora)).expect(422, 'Missing authorization header');
    await own.rest('GET', `/identities/${dora.id}`, undefined, { accessToken: dora.accessToken }).expect(200);
    await own.rest('GET', `/notifications/identities/${dora.id}`, undefined, cookieHeaders(dora)).expect(200);
  });
});

function cookieHeaders(person: Person) {
  return { headers: cookie(person.accessToken) };
}
