import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createBarrier, createClient, createExpiredClient, failureOf, isRefresh, newAccount } from '../test/clients.js';
import type { BeforeSending } from '../test/recording-fetch.js';
import type { Tokens } from './index.js';

const app = fixture(startTestServer);

async function lock(identityId: string): Promise<void> {
  const admin = await app.signUpAdmin();
  await admin.rest('POST', `/identities/${identityId}/lock`).expect(204);
}

describe('an expired access token', () => {
  it('costs many concurrent calls one refresh, and all of them succeed', async () => {
    const { client, id, tokens, count, signedOut, requests } = await createExpiredClient(app);
    const notification = await app.tandem.services.notifications.notify(id, {});
    const before = await tokens.load();
    requests.length = 0;

    const queries = Array.from({ length: 20 }, (_, n) => client.api.notifications.list.query({ identityId: id, page: n + 1 }));
    const mutation = client.api.notifications.markRead.mutate({ notificationId: notification.id });
    const pages = await Promise.all(queries);
    await mutation;

    expect(pages.map(({ metadata }) => metadata.pagination.total)).toEqual(Array.from({ length: 20 }, () => 1));
    expect(await client.api.notifications.unreadCount.query({ identityId: id })).toEqual({ unread: 0 });
    expect(count('auth.refreshToken')).toBe(1);
    expect(requests).toHaveLength(6);
    expect(await tokens.load()).toMatchObject({ identityId: id });
    expect((await tokens.load())?.refreshToken).not.toBe(before?.refreshToken);
    expect(signedOut).toEqual([]);
  });

  it('is renewed for a public read of what its caller alone may see', async () => {
    const { client, count } = await createExpiredClient(app);
    expect(await client.api.products.list.query({ $expand: 'organization', limit: 1 })).toHaveProperty('data');
    expect([count('auth.refreshToken'), count('products.list')]).toEqual([1, 2]);
  });

  it('is renewed once for calls that are refused at different times', async () => {
    const barrier = createBarrier('identities.get');
    const { client, id, unread, count } = await createExpiredClient(app, { before: barrier.before });

    const slow = client.api.identities.get.query({ identityId: id });
    await barrier.arrived;
    await unread();
    barrier.open();

    expect(await slow).toMatchObject({ id });
    expect([count('auth.refreshToken'), count('identities.get')]).toEqual([1, 2]);
  });

  it('is renewed repeatedly over days', async () => {
    const { unread, count } = await createExpiredClient(app);
    for (let day = 0; day < 20; day++) {
      app.clock.advance(24 * 60 * 60_000);
      expect(await unread()).toEqual({ unread: 0 });
    }
    expect(count('auth.refreshToken')).toBe(20);
  });

  it('does not repeat a call in the name of another identity that has signed in since', async () => {
    const bob = await app.signUp();
    let signInBob = async () => {};
    const before: BeforeSending = (request) => (isRefresh(request) ? signInBob() : undefined);
    const { client, unread, tokens, count, signedOut } = await createExpiredClient(app, { before });
    signInBob = async () => void (await client.signIn({ email: bob.email, password: PASSWORD }));

    expect(await failureOf(unread())).toMatchObject({ status: 401, message: 'token could not be verified' });

    expect(count('notifications.unreadCount')).toBe(1);
    expect(await tokens.load()).toMatchObject({ identityId: bob.id });
    expect(signedOut).toEqual([]);
  });

  it('does not restore a session that was signed out during the refresh', async () => {
    let signOut = async () => {};
    const before: BeforeSending = async (request) => (isRefresh(request) ? signOut() : undefined);
    const { client, unread, tokens, signedOut } = await createExpiredClient(app, { before });
    signOut = () => client.signOut();
    expect(await failureOf(unread())).toMatchObject({ status: 401 });
    expect([await tokens.load(), signedOut]).toEqual([undefined, []]);
  });
});

describe('a session that the server has ended', () => {
  it('ends here: tokens forgotten, the host told once, every caller given the original error', async () => {
    const { client, tokens, signedOut, count } = createClient(app);
    const { id } = await client.signUp(newAccount());
    await lock(id);

    const call = () => failureOf(client.api.notifications.unreadCount.query({ identityId: id }));
    const failures = await Promise.all([call(), call(), call()]);

    expect(failures).toEqual(
      failures.map(() => ({ status: 401, message: 'token could not be verified', data: [], code: 'authentication.unverified' })),
    );
    expect([await tokens.load(), signedOut, count('auth.refreshToken')]).toEqual([undefined, ['signed out'], 1]);
    expect(await call()).toMatchObject({ status: 422, message: 'Missing authorization header' });
    expect([signedOut, count('auth.refreshToken')]).toEqual([['signed out'], 1]);
  });

  it('is reported again after the next sign-in', async () => {
    const { client, signedOut } = createClient(app);
    const account = newAccount();
    const { id } = await client.signUp(account);
    for (const times of [1, 2]) {
      await client.api.auth.deleteRefreshTokens.mutate({ identityId: id });
      await failureOf(client.api.notifications.unreadCount.query({ identityId: id }));
      expect(signedOut).toHaveLength(times);
      await client.signIn(account);
    }
  });

  it('ends here too when it ends between the refresh and the repeated call, without a loop', async () => {
    let lockNow = async () => {};
    let refreshed = false;
    const before: BeforeSending = async (request) => {
      if (isRefresh(request)) refreshed = true;
      else if (refreshed) await lockNow();
    };
    const { unread, id, count } = await createExpiredClient(app, { before });
    lockNow = () => lock(id);
    expect(await failureOf(unread())).toMatchObject({ status: 401, message: 'token could not be verified' });
    expect([count('auth.refreshToken'), count('notifications.unreadCount')]).toEqual([1, 2]);
  });
});

describe('a 401 that no refresh can fix', () => {
  it('reaches the caller unchanged: a refresh token used as access token', async () => {
    const { client, tokens, count } = createClient(app);
    const { id } = await client.signUp(newAccount());
    const pair = (await tokens.load()) as Tokens;
    await tokens.save({ ...pair, accessToken: pair.refreshToken });
    const call = client.api.notifications.unreadCount.query({ identityId: id });
    expect(await failureOf(call)).toEqual({ status: 401, message: 'Invalid token', data: [], code: 'authentication.wrongType' });
    expect(count('auth.refreshToken')).toBe(0);
  });

  it('reaches the caller unchanged: a token passed in to be checked', async () => {
    const { client, count } = createClient(app);
    await client.signUp(newAccount());
    const call = client.api.auth.checkToken.mutate({ token: 'no token' });
    expect(await failureOf(call)).toMatchObject({ status: 401, message: 'token could not be verified' });
    expect(count('auth.refreshToken')).toBe(0);
  });
});
