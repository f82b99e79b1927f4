import { MfaRequiredError, TandemError } from '@tandem/client';
import { NEW_PASSWORD, PASSWORD, PATIENCE, createTotpApp, fixture, newEmail, startTestServer } from '@tandem/testing';
import { QueryClient } from '@tanstack/react-query';
import type { Window } from 'happy-dom';
import { describe, expect, it } from 'vitest';
import { createCookieFetch } from '../../client/test/recording-fetch.js';
import { channelOf } from '../test/channels.js';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel, useSession, useTandem, useTandemQuery, type Channel, type Session, type Tandem } from './index.js';

const app = fixture(startTestServer);

describe('useSession', () => {
  it('follows sign-up, sign-out and sign-in', async () => {
    const { until, all } = render(app, useSession);
    const { status, signUp, signOut, signIn } = await until(() => true);
    const account = { email: newEmail(), password: PASSWORD };
    const { id } = await signUp(account);
    await until(({ identityId }) => identityId === id);
    await signOut();
    expect(await until(({ identityId }) => identityId === undefined)).toMatchObject({ status: 'signed-out', hasEnded: false });
    await signIn(account);
    await until(({ identityId }) => identityId === id);
    expect([status, all.at(-1)?.status]).toEqual(['signed-out', 'signed-in']);
  });

  it('keeps who signs in before the sign-out of the one before is answered', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const slow = createSlowFetch((url) => url.includes('auth.logout'));
    const { until, all } = render(app, useSession, { tokens: tokensOf(ann), fetch: slow.fetch });
    const { signIn, signOut } = await until(({ identityId }) => identityId === ann.id);
    const release = slow.hold();
    const leaving = signOut();
    await expect.poll(slow.waiting, PATIENCE).toBe(1);
    await signIn({ email: bob.email, password: PASSWORD });
    await until(({ identityId }) => identityId === bob.id);
    const before = all.length;
    release();
    await leaving;
    // a rendering of another would come before this answer
    await bob.rest('GET', `/identities/${bob.id}`).expect(200);
    expect(all.slice(before).filter(({ identityId }) => identityId !== bob.id)).toEqual([]);
  });

  it('says what was wrong with the credentials', async () => {
    const { email } = await app.signUp();
    const { signIn } = await render(app, useSession).until(() => true);
    const failure = await signIn({ email, password: NEW_PASSWORD }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TandemError);
    expect(failure).toMatchObject({ status: 401, message: 'wrong credentials provided' });
  });

  it('asks for a code where the server wants one', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true });
    const { email, id } = await app.signUp();
    const { until } = render(withMfa, useSession);
    const { signIn, verifyMfa } = await until(() => true);
    const challenge = await signIn({ email, password: PASSWORD }).catch((error: unknown) => error);
    expect(challenge).toBeInstanceOf(MfaRequiredError);
    const { code = '' } = await withMfa.mail.next(email);
    await verifyMfa({ token: (challenge as MfaRequiredError).token, code });
    await until(({ identityId }) => identityId === id);
  });

  it('says which factors can follow, and begins with one', async () => {
    const ann = await app.signUp();
    const factors = `/auth/${ann.id}/factors`;
    const { id, secret } = await ann.rest('POST', `${factors}/totp`, {}).expect<{ id: string; secret: string }>(201);
    const code = createTotpApp(secret, app.clock);
    await ann.rest('POST', `${factors}/${id}/confirm`, { code: code() }).expect(204);
    const { until } = render(app, useSession);
    const { signIn, verifyMfa, verifyMfaByPasskey } = await until(() => true);
    const challenge = await signIn({ email: ann.email, password: PASSWORD }).catch((error: unknown) => error);
    expect((challenge as MfaRequiredError).factors).toEqual(['totp']);
    const { token } = challenge as MfaRequiredError;
    // this browser has no passkeys
    await expect(verifyMfaByPasskey(token)).rejects.toBeInstanceOf(TandemError);
    await verifyMfa({ token, code: code(1) });
    await until(({ identityId }) => identityId === ann.id);
  });

  it('begins with what the token store has kept, also when that takes a while', async () => {
    const ann = await app.signUp();
    const tokens = tokensOf(ann);
    const { all } = render(app, useSession, { tokens });
    await expect.poll(() => all.length).toBeGreaterThan(0);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set(['signed-in']));

    const slow = { ...tokens, load: () => Promise.resolve(tokens.load()) };
    const hooks = () => [useSession(), useTandemQuery('notifications.unreadCount', { identityId: ann.id })] as const;
    const rendered = render(app, hooks, { tokens: slow });
    await rendered.until(([, unread]) => unread.isSuccess);
    const [[first, asked] = []] = rendered.all;
    expect([first?.status, asked?.fetchStatus]).toEqual(['loading', 'idle']);
    expect(rendered.all.filter(([, { isError }]) => isError)).toEqual([]);
  });

  it('ends when the server has ended it, and leaves no answer for the next person', async () => {
    const ann = await app.signUp();
    const queries = new QueryClient();
    const hooks = () => [useSession(), useTandemQuery('notifications.unreadCount', { identityId: ann.id })] as const;
    const { until } = render(app, hooks, { tokens: tokensOf(ann), queries });
    const [, { refetch }] = await until(([, unread]) => unread.isSuccess);
    await ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
    void refetch();
    const [session, unread] = await until(([{ status }]) => status === 'signed-out');
    expect([session.hasEnded, unread.data]).toEqual([true, undefined]);
    expect(
      JSON.stringify(
        queries
          .getQueryCache()
          .getAll()
          .map(({ queryKey }) => queryKey),
      ),
    ).not.toContain(`"tandem","${ann.id}"`);
    await session.signOut();
    await until(([{ hasEnded }]) => !hasEnded);
  });

  it('shows what could not be sent when it ended to the same person, and to nobody else', async () => {
    for (const [isSame, isElsewhere] of [
      [false, false],
      [true, false],
      [true, true],
    ] as const) {
      // prettier-ignore
      const [ann, bob] = [await app.signUp(), await app.signUp()];
      const channelId = await channelOf(ann, [bob]);
      const { id: messageId } = await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: 'Tea?' });
      const slow = createSlowFetch((url) => url.includes('chat.createListenTicket'));
      const sockets = createSockets();
      const hooks = () => [useChannel(channelId), useSession()] as const;
      const tokens = tokensOf(ann);
      const options = { tokens, fetch: slow.fetch, WebSocket: sockets.WebSocket };
      const { until, unmount } = render(app, hooks, options);
      const [{ send, toggleReaction }, { signIn }] = await until(([{ isLive }]) => isLive);
      const release = slow.hold();
      sockets.cut();
      await until(([{ isLive }]) => !isLive);
      send('Cake!');
      // another tab notices it first
      if (isElsewhere) tokens.clear();
      else await ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
      toggleReaction(messageId, 'ok');
      await until(([, { status, hasEnded }]) => status === 'signed-out' && hasEnded === !isElsewhere);
      release();
      await signIn({ email: isSame ? ann.email : bob.email, password: PASSWORD });
      const [{ pending, error }] = await until(([{ isLive, messages }]) => isLive && messages?.length === 1);
      expect([pending.map(({ content, failure }) => [content, failure?.name]), error]).toEqual([
        isSame ? [['Cake!', 'TandemError']] : [],
        null,
      ]);
      pending[0]?.retry();
      await until(([{ messages }]) => messages?.length === (isSame ? 2 : 1));
      unmount();
    }
  });

  it('shows nobody what another person has loaded', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
    const call = () => useTandemQuery('notifications.unreadCount', { identityId: ann.id });
    await render(app, call, { tokens: tokensOf(ann), queries }).until(({ isSuccess }) => isSuccess);
    const ofBob = render(app, call, { tokens: tokensOf(bob), queries });
    expect((await ofBob.until(({ isFetched }) => isFetched)).error).toMatchObject({ status: 403 });
    expect(ofBob.all.every(({ data }) => data === undefined)).toBe(true);
  });

  it('in cookie mode outlives the page, until the server has ended it', async () => {
    const modes = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
    await using inCookies = await startTestServer({ authModes: modes });
    let isAway = false;
    const browser = createCookieFetch(inCookies.clock);
    const unreliable: typeof browser = (...call) => (isAway ? Promise.reject(new TypeError('away')) : browser(...call));
    const page = { mode: 'cookie', fetch: unreliable } as const;
    const first = render(inCookies, useSession, page);
    const { signUp } = await first.until(() => true);
    const { id } = await signUp({ email: newEmail(), password: PASSWORD });
    first.unmount();

    const hooks = () => [useSession(), useTandemQuery('notifications.unreadCount', { identityId: id })] as const;
    const next = render(inCookies, hooks, page);
    const [{ identityId, signOut }] = await next.until(([, unread]) => unread.isSuccess);
    expect(identityId).toBe(id);
    // only the server removes cookies
    isAway = true;
    await expect(signOut()).rejects.toThrow('cannot be reached');
    expect(next.now[0].status).toBe('signed-in');
    isAway = false;
    await signOut();
    next.unmount();
    expect((await render(inCookies, useSession, page).until(() => true)).status).toBe('signed-out');
  });

  it('in cookie mode goes with what another tab does', async () => {
    const modes = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
    await using inCookies = await startTestServer({ authModes: modes });
    const { window } = globalThis as unknown as { window: Window };
    /** What a browser tells the other tabs. */
    const tellOthers = (key: string) => window.dispatchEvent(new window.StorageEvent('storage', { key }));
    const browser = { mode: 'cookie', fetch: createCookieFetch(inCookies.clock) } as const;
    const [here, there] = [render(inCookies, useSession, browser), render(inCookies, useSession, browser)];
    const { signUp, signOut } = await there.until(() => true);
    const { id } = await signUp({ email: newEmail(), password: PASSWORD });
    tellOthers('another');
    expect(here.now.status).toBe('signed-out');
    tellOthers('tandem.identityId');
    await here.until(({ identityId }) => identityId === id);
    await signOut();
    tellOthers('tandem.identityId');
    expect(await here.until(({ status }) => status === 'signed-out')).toMatchObject({ hasEnded: false });
  });

  it('in cookie mode tells the end of a session that another tab has started', async () => {
    const modes = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
    await using inCookies = await startTestServer({ authModes: modes });
    const { window } = globalThis as unknown as { window: Window };
    const tellOthers = () => window.dispatchEvent(new window.StorageEvent('storage', { key: 'tandem.identityId' }));
    const browser = { mode: 'cookie', fetch: createCookieFetch(inCookies.clock) } as const;
    const hooks = () => [useSession(), useTandem()] as const;
    const [here, there] = [render(inCookies, hooks, browser), render(inCookies, useSession, browser)];
    const account = { email: newEmail(), password: PASSWORD };
    const [{ signUp, signOut }, { api }] = await here.until(() => true);
    const { id } = await signUp(account);
    await signOut();
    await here.until(([{ status }]) => status === 'signed-out');
    await (await there.until(() => true)).signIn(account);
    tellOthers();
    await here.until(([{ identityId }]) => identityId === id);
    await inCookies.tandem.services.identities.endSessions(id);
    await expect(api.identities.get.query({ identityId: id })).rejects.toThrow('token could not be verified');
    const [{ hasEnded }] = await here.until(([{ status }]) => status === 'signed-out');
    expect(hasEnded).toBe(true);
  });

  it('in bearer mode goes with what another tab does at its next call, and leaves no answer for the next person', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const tokens = tokensOf(ann);
    const hooks = () => [useSession(), useTandemQuery('notifications.unreadCount', { identityId: ann.id })] as const;
    const { until, queries } = render(app, hooks, { tokens });
    const [, { refetch }] = await until(([, unread]) => unread.isSuccess);
    tokens.clear();
    void refetch();
    // its call without tokens has ended too, so that the next one loads them
    const [{ hasEnded }] = await until(([{ status }, { isError }]) => status === 'signed-out' && isError);
    expect(hasEnded).toBe(false);
    tokens.save(tokensOf(bob).load()!);
    void queries.invalidateQueries();
    await until(([{ identityId }, { isError }]) => identityId === bob.id && isError);
    expect(queries.getQueryCache().findAll({ queryKey: ['tandem', ann.id] })).toEqual([]);
  });

  it('in bearer mode lets fail, unsent, the call that notices who has signed in in another tab', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    const message = await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: 'Tea?' });
    const asked: string[] = [];
    const noted: typeof fetch = (...request) => {
      asked.push(new Request(...request).url.replace(/.*\/trpc\/|\?.*/g, ''));
      return fetch(...request);
    };
    const calls: ((page: readonly [Channel, Session, Tandem]) => unknown)[] = [
      ([{ toggleReaction }]) => toggleReaction(message.id, 'ok'),
      // two at the same moment
      ([, , { api }]) =>
        Promise.all(
          ['Tea!', 'Cake!'].map((content) =>
            expect(api.chat.createMessage.mutate({ channelId, senderId: ann.id, content })).rejects.toThrow('not sent'),
          ),
        ),
      ([, { signOut }]) => expect(signOut()).rejects.toThrow('not sent'),
    ];
    for (const call of calls) {
      const tokens = tokensOf(ann);
      const hooks = () => [useChannel(channelId), useSession(), useTandem()] as const;
      const { until, queries, unmount } = render(app, hooks, { tokens, fetch: noted });
      const page = await until(([{ isLive }]) => isLive);
      await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
      asked.length = 0;
      tokens.save(tokensOf(bob).load()!);
      await call(page);
      await until(([{ isLive }, { identityId }]) => isLive && identityId === bob.id);
      expect(asked.filter((name) => /Reaction|createMessage|logout/.test(name))).toEqual([]);
      expect(tokens.load()?.identityId).toBe(bob.id);
      unmount();
    }
  });

  it('ends here in bearer mode even if the server cannot be reached', async () => {
    const ann = await app.signUp();
    let isAway = false;
    const unreliable: typeof fetch = (...call) => (isAway ? Promise.reject(new TypeError('away')) : fetch(...call));
    const { until } = render(app, useSession, { tokens: tokensOf(ann), fetch: unreliable });
    const { signOut } = await until(({ status }) => status === 'signed-in');
    isAway = true;
    await expect(signOut()).rejects.toThrow(`the server at ${app.url} cannot be reached`);
    await until(({ status }) => status === 'signed-out');
  });
});
