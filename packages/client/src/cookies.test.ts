import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createBarrier, createClient, EXPIRY_MS, failureOf, isRefresh, newAccount } from '../test/clients.js';
import { createCookieFetch, type BeforeSending } from '../test/recording-fetch.js';
import { createNotificationStream, type Fetch } from './index.js';

const app = fixture(() =>
  startTestServer({
    authModes: { auth: 'cookie', identities: 'cookie', notifications: 'cookie' },
    cookies: { secure: false, sameSite: 'strict' },
  }),
);

/** A browser tab: tabs of one browser share its cookies. */
function createTab({ browser = createCookieFetch(app.clock), before }: { browser?: Fetch; before?: BeforeSending } = {}) {
  return createClient(app, { mode: 'cookie', fetch: browser, ...(before && { before }) });
}

describe('cookie mode', () => {
  it('signs up, calls and signs out with cookies alone: no token is stored, no header sent', async () => {
    const { client, tokens, requests, signedOut } = createTab();
    const { id } = await client.signUp(newAccount());
    expect(await client.api.identities.get.query({ identityId: id })).toMatchObject({ id });
    await client.signOut();
    await client.signOut();

    const call = client.api.identities.get.query({ identityId: id });
    expect(await failureOf(call)).toMatchObject({ status: 401, message: 'Unable to detect access token' });
    expect([tokens.load(), signedOut]).toEqual([undefined, []]);
    expect(requests.every(({ credentials }) => credentials === 'include')).toBe(true);
    expect(requests.some(({ headers }) => headers.has('authorization'))).toBe(false);
  });

  it('tells the end of a session that another tab has started, after its own had ended', async () => {
    const browser = createCookieFetch(app.clock);
    const [one, other] = [createTab({ browser }), createTab({ browser })];
    const account = newAccount();
    const { id } = await one.client.signUp(account);
    await one.client.signOut();
    await other.client.signIn(account);
    one.client.followSignIn(id);
    expect(await one.client.api.identities.get.query({ identityId: id })).toMatchObject({ id });
    await app.tandem.services.identities.endSessions(id);
    for (let calls = 0; calls < 2; calls += 1)
      expect(await failureOf(one.client.api.identities.get.query({ identityId: id }))).toMatchObject({ status: 401 });
    expect(one.signedOut).toHaveLength(1);
  });

  it('sends no create again after another tab has signed in', async () => {
    const browser = createCookieFetch(app.clock);
    const [one, other] = [createTab({ browser, before: lose }), createTab({ browser })];
    async function lose({ procedures }: { procedures: readonly string[] }): Promise<void> {
      if (!procedures.includes('chat.createChannel')) return;
      one.client.followSignIn((await other.client.signUp(newAccount())).id);
      throw new TypeError('fetch failed');
    }
    const { id } = await one.client.signUp(newAccount());
    expect(await failureOf(one.client.api.chat.createChannel.mutate({ name: 'Tea', ownerId: id }))).toMatchObject({
      message: 'not sent again: its sender has signed out',
    });
  });

  it('refreshes by cookie, once for many calls, when the access cookie has expired', async () => {
    const { client, count, signedOut } = createTab();
    const { id } = await client.signUp(newAccount());
    for (const times of [1, 2]) {
      app.clock.advance(EXPIRY_MS);
      const calls = Array.from({ length: 25 }, () => client.api.notifications.unreadCount.query({ identityId: id }));
      expect(await Promise.all(calls)).toEqual(calls.map(() => ({ unread: 0 })));
      expect(count('auth.refreshToken')).toBe(times);
    }
    expect(signedOut).toEqual([]);
  });

  it('refreshes once for calls that are refused at different times', async () => {
    const barrier = createBarrier('identities.get');
    const jar = createCookieFetch(app.clock);
    const browser: Fetch = async (input, init) => {
      const answer = await jar(input, init);
      if (answer.url.includes('identities.get') && answer.status === 401) await barrier.wait();
      return answer;
    };
    const { client, count } = createTab({ browser });
    const { id } = await client.signUp(newAccount());
    app.clock.advance(EXPIRY_MS);

    const slow = client.api.identities.get.query({ identityId: id });
    await barrier.arrived;
    await client.api.notifications.unreadCount.query({ identityId: id });
    barrier.open();

    expect(await slow).toMatchObject({ id });
    expect([count('auth.refreshToken'), count('identities.get')]).toEqual([1, 2]);
  });

  it('keeps the stream of who could not sign out', async () => {
    let isAway = false;
    const jar = createCookieFetch(app.clock);
    const { client } = createTab({ browser: (...call) => (isAway ? Promise.reject(new TypeError('away')) : jar(...call)) });
    await client.signUp(newAccount());
    const sockets: WebSocket[] = [];
    class Recorded extends WebSocket {
      constructor(address: string) {
        super(address);
        sockets.push(this);
      }
    }
    const [states, ends] = [[] as string[], [] as string[]];
    const stream = createNotificationStream({
      url: app.url,
      client,
      onNotification() {},
      onState: (state) => void states.push(state),
      onSignedOut: () => void ends.push('signed out'),
      WebSocket: Recorded,
    });
    onTestFinished(() => stream.close());
    await expect.poll(() => states, PATIENCE).toEqual(['up']);
    isAway = true;
    await expect(client.signOut()).rejects.toThrow('cannot be reached');
    isAway = false;
    sockets[0]?.terminate();
    await expect.poll(() => states, PATIENCE).toEqual(['up', 'down', 'up']);
    expect(ends).toEqual([]);
  });

  it('continues after a page reload, with only the cookies', async () => {
    const browser = createCookieFetch(app.clock);
    const { id } = await createTab({ browser }).client.signUp(newAccount());
    app.clock.advance(EXPIRY_MS);
    const reloaded = createTab({ browser });
    expect(await reloaded.client.api.notifications.unreadCount.query({ identityId: id })).toEqual({ unread: 0 });
    expect(reloaded.count('auth.refreshToken')).toBe(1);
  });

  it('lets two tabs of one browser refresh at once', async () => {
    const browser = createCookieFetch(app.clock);
    const [one, two] = [createTab({ browser }), createTab({ browser })];
    const { id } = await one.client.signUp(newAccount());
    for (let round = 0; round < 3; round++) {
      app.clock.advance(EXPIRY_MS);
      const calls = [one, two].map(({ client }) => client.api.notifications.unreadCount.query({ identityId: id }));
      expect(await Promise.all(calls)).toEqual([{ unread: 0 }, { unread: 0 }]);
    }
    expect([one.signedOut, two.signedOut]).toEqual([[], []]);
  });

  it('tells the host once that the server has ended the session, until the next sign-in', async () => {
    const { client, signedOut } = createTab();
    const account = newAccount();
    const { id } = await client.signUp(account);
    const call = () => failureOf(client.api.notifications.unreadCount.query({ identityId: id }));
    for (const times of [1, 2]) {
      await app.tandem.services.identities.endSessions(id);
      const failures = await Promise.all([call(), call()]);
      expect(failures).toEqual(
        failures.map(() => ({
          status: 401,
          message: 'token could not be verified',
          data: [],
          code: 'authentication.unverified',
        })),
      );
      await call();
      expect(signedOut).toHaveLength(times);
      await client.signIn(account);
    }
  });

  it('keeps the session when the refresh fails for a passing reason', async () => {
    let isBad = true;
    const before: BeforeSending = (request) =>
      isRefresh(request) && isBad ? new Response('Bad Gateway', { status: 502 }) : undefined;
    const { client, signedOut } = createTab({ before });
    const { id } = await client.signUp(newAccount());
    app.clock.advance(EXPIRY_MS);
    const call = () => client.api.notifications.unreadCount.query({ identityId: id });
    expect(await failureOf(call())).not.toMatchObject({ status: 401 });
    isBad = false;
    expect(await call()).toEqual({ unread: 0 });
    expect(signedOut).toEqual([]);
  });

  it('reports that the page’s origin is not allowed, instead of the end of the session', async () => {
    const jar = createCookieFetch(app.clock);
    let origin: string | undefined;
    const browser: Fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      if (origin !== undefined) headers.set('origin', origin);
      return jar(input, { ...init, headers });
    };
    const { client, signedOut } = createTab({ browser });
    const { id } = await client.signUp(newAccount());
    app.clock.advance(EXPIRY_MS);
    origin = 'https://elsewhere.example';
    const call = client.api.notifications.unreadCount.query({ identityId: id });
    expect(await failureOf(call)).toEqual({
      status: 403,
      message: 'Origin is not allowed',
      data: [],
      code: 'origin.originNotAllowed',
    });
    expect(signedOut).toEqual([]);
  });

  it('does not repeat a call in the name of another identity that has signed in since', async () => {
    let signInBob = async () => {};
    const before: BeforeSending = (request) => (isRefresh(request) ? signInBob() : undefined);
    const { client, count, signedOut } = createTab({ before });
    const bob = newAccount();
    await client.signUp(bob);
    const { id } = await client.signUp(newAccount());
    app.clock.advance(EXPIRY_MS);
    signInBob = async () => void (await client.signIn(bob));
    const call = client.api.notifications.unreadCount.query({ identityId: id });
    expect(await failureOf(call)).toMatchObject({ status: 401 });
    expect([count('notifications.unreadCount'), signedOut]).toEqual([1, []]);
  });

  it("reports the server's mode, when it is the other one", async () => {
    const { client } = createClient(app);
    await expect(client.signUp(newAccount())).rejects.toThrow("make the client with mode 'cookie'");
  });
});
