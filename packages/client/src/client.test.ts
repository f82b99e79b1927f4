import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import {
  PASSWORD,
  RETURN_URL,
  createBrowser,
  fixture,
  newOidcAccount,
  startOidcProvider,
  startTestServer,
  throughProvider,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createClient, EXPIRY_MS, failureOf, newAccount } from '../test/clients.js';
import { TandemError, UploadError, createTandemClient, describeFailure, isError, type Tokens } from './index.js';

const app = fixture(startTestServer);

describe('a one-time token', () => {
  it('signs in', async () => {
    const ann = await app.signUp();
    const { token } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    const { client } = createClient(app, { fingerprint: 'device 1' });
    expect(await client.signInByToken({ token })).toEqual({ id: ann.id });
    expect(await client.api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
    expect(await failureOf(client.signInByToken({ token }))).toMatchObject({ status: 401 });
  });
});

describe('returning from a provider', () => {
  it("signs in where the server is on another origin, because the call sends the browser's cookie", async () => {
    await using idp = await startOidcProvider();
    await using server = await startTestServer({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] });
    const browser = createBrowser(server);
    const back = await throughProvider(server, idp, { account: newOidcAccount() }, { purpose: 'oauth-signup', browser });
    const token = back.searchParams.get('onetimeToken') ?? '';
    const { client } = createClient(server, {
      // as a browser does
      fetch(input, init) {
        const headers = new Headers(init?.headers);
        if (init?.credentials === 'include') headers.set('cookie', browser.cookiesFor(input as string));
        return fetch(input, { ...init, headers });
      },
    });
    const { id } = await client.signInByToken({ token });
    expect(await client.api.identities.get.query({ identityId: id })).toMatchObject({ emailVerified: true });
  });
});

describe('signing in and out', () => {
  it('signs up, is then signed in, and calls procedures as that identity', async () => {
    const { client, tokens } = createClient(app);
    const account = newAccount();

    const { id } = await client.signUp(account);

    expect(await client.api.identities.get.query({ identityId: id })).toMatchObject({
      id,
      email: account.email,
      typeId: 'regular',
    });
    expect(tokens.load()).toEqual({ identityId: id, accessToken: expect.any(String), refreshToken: expect.any(String) });
  });

  it('signs in with an existing account; the URL may end with a slash', async () => {
    const ann = await app.signUp();
    const { client } = createClient(app, { url: `${app.url}/` });
    expect(await client.signIn({ email: ann.email, password: PASSWORD })).toEqual({ id: ann.id });
    expect(await client.api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
  });

  it('sends no credentials before sign-in', async () => {
    const { client, requests } = createClient(app);
    const call = client.api.notifications.unreadCount.query({ identityId: randomUUID() });
    expect(await failureOf(call)).toEqual({
      status: 422,
      message: 'Missing authorization header',
      data: [],
      code: 'authentication.missingHeader',
    });
    expect(requests.map(({ headers }) => headers.has('authorization'))).toEqual([false]);
  });

  it('reports wrong credentials without a refresh, and keeps its session', async () => {
    const { client, count, tokens } = createClient(app);
    await client.signUp(newAccount());
    const before = tokens.load();
    const call = client.signIn({ ...newAccount(), password: 'not the right one' });
    expect(await failureOf(call)).toEqual({
      status: 401,
      message: 'wrong credentials provided',
      data: [],
      code: 'auth.wrongCredentials',
    });
    expect(count('auth.refreshToken')).toBe(0);
    expect(tokens.load()).toEqual(before);
  });

  it('signs out here and at the server, and may repeat it', async () => {
    const { client, tokens, count, signedOut } = createClient(app);
    await client.signUp(newAccount());
    const { accessToken, refreshToken, identityId } = (await tokens.load()) as Tokens;

    await client.signOut();
    await client.signOut();

    expect([tokens.load(), count('auth.logout'), signedOut]).toEqual([undefined, 1, []]);
    await app.rest('GET', `/identities/${identityId}`, undefined, { accessToken }).expect(401, 'token could not be verified');
    await app.rest('POST', '/auth/token/refresh', { refreshToken }).expect(422, 'Token was not found');
  });

  it('signs out of a session that the server has already ended', async () => {
    const { client, tokens } = createClient(app);
    const { id } = await client.signUp(newAccount());
    await client.api.auth.deleteRefreshTokens.mutate({ identityId: id });
    await client.signOut();
    expect(tokens.load()).toBeUndefined();
  });

  it('forgets the tokens even when the server cannot be reached, and reports it', async () => {
    const other = await startTestServer();
    const { client, tokens } = createClient(app, { url: other.url });
    await client.signUp(newAccount());
    await other.close();
    expect(await failureOf(client.signOut())).toMatchObject({ status: undefined });
    expect(tokens.load()).toBeUndefined();
  });

  it("reports the server's mode, when it is the other one", async () => {
    const { client } = createClient(app, { mode: 'cookie' });
    await expect(client.signUp(newAccount())).rejects.toThrow("make the client with mode 'bearer'");
  });
});

describe('the fingerprint', () => {
  it('goes into the login’s body, and into a header of each later request', async () => {
    const { client, requests, tokens } = createClient(app, { fingerprint: 'device 1/a' });
    const { id } = await client.signUp(newAccount());
    await client.api.notifications.unreadCount.query({ identityId: id });
    app.clock.advance(EXPIRY_MS);
    await client.api.notifications.unreadCount.query({ identityId: id });
    const accessToken = (await tokens.load())?.accessToken;

    expect(requests.map(({ procedures }) => procedures.join())).toEqual(
      ['auth.register', 'auth.login', 'notifications.unreadCount', 'notifications.unreadCount', 'auth.refreshToken', 'notifications.unreadCount'], // prettier-ignore
    );
    expect(requests[1]?.body).toMatchObject({ fingerprint: 'device 1/a' });
    expect(requests.slice(2).every(({ headers }) => headers.get('x-nb-fingerprint') === 'device 1/a')).toBe(true);
    // the session requires it
    const path = `/identities/${id}`;
    await app.rest('GET', path, undefined, { accessToken }).expect(401, 'Token fails security check');
    await app.rest('GET', path, undefined, { accessToken, fingerprint: 'device 1/a' }).expect(200);
  });

  it('of another device is refused, and no refresh is tried', async () => {
    const { client, tokens } = createClient(app, { fingerprint: 'device 1' });
    const { id } = await client.signUp(newAccount());
    const stolen = createClient(app, { tokens, fingerprint: 'device 2' });
    const call = stolen.client.api.notifications.unreadCount.query({ identityId: id });
    expect(await failureOf(call)).toMatchObject({ status: 401, message: 'Token fails security check' });
    expect(stolen.count('auth.refreshToken')).toBe(0);
    expect(tokens.load()).toBeDefined();
  });

  it.each(['', ' a', 'a ', 'ü', 'a\nb', 'x'.repeat(513)])('%j is refused, because no header could carry it', (fingerprint) => {
    expect(() => createClient(app, { fingerprint })).toThrow(TypeError);
  });
});

describe('calls', () => {
  it('of one tick share requests of at most 20', async () => {
    const { client, requests } = createClient(app);
    const { id } = await client.signUp(newAccount());
    requests.length = 0;

    const pages = await Promise.all(
      Array.from({ length: 45 }, (_, n) => client.api.notifications.list.query({ identityId: id, page: n + 1 })),
    );

    expect(pages.map(({ metadata }) => metadata.pagination.page)).toEqual(Array.from({ length: 45 }, (_, n) => n + 1));
    expect(requests.map(({ procedures }) => procedures.length)).toEqual([20, 20, 5]);
  });

  it('fail separately in a shared request, with the texts of the REST face', async () => {
    const { client, requests } = createClient(app);
    const { id } = await client.signUp(newAccount());
    const { notifications } = client.api;
    const [good, invalid, foreign] = await Promise.all([
      notifications.list.query({ identityId: id }),
      failureOf(notifications.list.query({ identityId: id, page: 0, limit: 51 })),
      failureOf(notifications.list.query({ identityId: randomUUID() })),
    ]);
    expect(good.data).toEqual([]);
    expect(invalid).toEqual({
      status: 400,
      message: 'Validation Error',
      code: 'request.invalid',
      data: ["query parameter 'page' must be >= 1", "query parameter 'limit' must be <= 50"],
    });
    expect(foreign).toEqual({ status: 403, message: 'Identity ID does not match', data: [], code: 'rules.notSelf' });
    expect(requests).toHaveLength(3);
  });

  it('can be aborted', async () => {
    const { client } = createClient(app);
    const { id } = await client.signUp(newAccount());
    const controller = new AbortController();
    const call = client.api.notifications.list.query({ identityId: id }, { signal: controller.signal });
    controller.abort();
    expect(await failureOf(call)).toMatchObject({ status: undefined });
  });
});

it.each([
  ['http://127.0.0.1:2/deep?key=secret', 'the server at http://127.0.0.1:2 cannot be reached (ECONNREFUSED)'],
  ['http://somebody:secret@127.0.0.1:1', 'the server at http://127.0.0.1:1 cannot be reached'],
  ['http://127.0.0.1:9', 'the server at http://127.0.0.1:9 cannot be reached (bad port)'],
  ['localhost:3000', 'the server cannot be reached: url must begin with http:// or https://'],
  ['nowhere', 'the server cannot be reached: url must begin with http:// or https://'],
])('a call to the wrong url %s says which server and why, without secrets', async (url, message) => {
  const call = createTandemClient({ url }).api.auth.checkToken.mutate({ token: 'x' });
  expect(await failureOf(call)).toEqual({ status: undefined, message, data: [] });
  expect(inspect(await call.catch((error: unknown) => error))).not.toContain('secret');
});

describe('describeFailure', () => {
  it("reads answers that are not tRPC's, and missing answers", async () => {
    const starting = () => Response.json({ error: { message: 'Service Unavailable' } }, { status: 503 });
    const { client } = createClient(app, { before: starting });
    const call = client.api.auth.checkToken.mutate({ token: 'x' });
    expect(await failureOf(call)).toEqual({ status: 503, message: 'Service Unavailable', data: [] });
    expect(describeFailure(new Error('no call'))).toEqual({ status: undefined, message: 'no call', data: [] });
    expect(describeFailure('text')).toEqual({ status: undefined, message: 'text', data: [] });
    expect(describeFailure(undefined)).toEqual({ status: undefined, message: 'undefined', data: [] });
  });

  it("reads the code also of the REST face's answers, and of the frames of streams", async () => {
    const headers = { 'x-error-code': 'request.unavailable' };
    const starting = () => Response.json({ error: { message: 'Service Unavailable' } }, { status: 503, headers });
    const { client } = createClient(app, { before: starting });
    expect(await failureOf(client.api.auth.checkToken.mutate({ token: 'x' }))).toMatchObject({ code: 'request.unavailable' });
    const frame = { type: 'error', message: 'Validation Error', errorCode: 'request.invalid', data: ['a'] };
    expect(describeFailure(frame)).toEqual({ status: undefined, message: 'Validation Error', data: ['a'], code: 'request.invalid' }); // prettier-ignore
  });
});

it('isError recognizes an error by its code, however it came', async () => {
  const { client } = createClient(app);
  const thrown = await client.api.auth.checkToken.mutate({ token: 'x' }).catch((error: unknown) => error);
  const frame = { type: 'error', message: 'x', errorCode: 'authentication.unverified' };
  const upload = new UploadError(401, 'x', 'authentication.unverified');
  for (const error of [thrown, new TandemError(thrown), frame, upload, new TandemError(upload)])
    expect([isError(error, 'authentication.unverified'), isError(error, 'authentication.wrongType')]).toEqual([true, false]);
  for (const other of [undefined, null, 'authentication.unverified', new Error('authentication.unverified'), {}])
    expect(isError(other, 'authentication.unverified')).toBe(false);
});
