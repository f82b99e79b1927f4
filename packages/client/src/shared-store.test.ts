import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createBarrier, createClient, createExpiredClient, EXPIRY_MS, isRefresh } from '../test/clients.js';
import type { BeforeSending } from '../test/recording-fetch.js';

const app = fixture(startTestServer);

describe('two clients that share a store, as tabs do', () => {
  it('both continue after concurrent refreshes', async () => {
    let arrived = 0;
    let bothArrived = () => {};
    const both = new Promise<void>((resolve) => (bothArrived = resolve));
    /** Holds each refresh until the other is ready too. */
    const before: BeforeSending = async (request) => {
      if (!isRefresh(request)) return;
      if (++arrived === 2) bothArrived();
      await both;
    };
    const one = await createExpiredClient(app, { before });
    const two = createClient(app, { tokens: one.tokens, before });
    const unreadOfTwo = () => two.client.api.notifications.unreadCount.query({ identityId: one.id });

    expect(await Promise.all([one.unread(), unreadOfTwo()])).toEqual([{ unread: 0 }, { unread: 0 }]);
    expect(arrived).toBe(2);

    for (const next of [one.unread, unreadOfTwo]) {
      app.clock.advance(EXPIRY_MS);
      expect(await next()).toEqual({ unread: 0 });
      expect(await Promise.all([one.unread(), unreadOfTwo()])).toEqual([{ unread: 0 }, { unread: 0 }]);
    }
    expect([one.signedOut, two.signedOut, arrived]).toEqual([[], [], 4]);
  });

  it('use the pair that the other has stored, instead of a refresh of their own', async () => {
    const barrier = createBarrier('identities.get');
    const one = await createExpiredClient(app);
    const two = createClient(app, { tokens: one.tokens, before: barrier.before });

    const slow = two.client.api.identities.get.query({ identityId: one.id });
    await barrier.arrived;
    await one.unread();
    // long after the time in which the server would return the same successor
    app.clock.advance(60_000);
    barrier.open();

    expect(await slow).toMatchObject({ id: one.id });
    expect([one.count('auth.refreshToken'), two.count('auth.refreshToken')]).toEqual([1, 0]);
  });
});
