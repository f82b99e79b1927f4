import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createBarrier, createClient, createExpiredClient, EXPIRY_MS, isRefresh, newAccount } from '../test/clients.js';
import type { BeforeSending } from '../test/recording-fetch.js';
import { createChatClient, createNotificationStream, type OutgoingMessage } from './index.js';

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

describe('a stream of one who has signed out', () => {
  it.each(['in another tab', 'in its own'])('gets no ticket in the name of the next, who signs in %s', async (where) => {
    const ann = createClient(app);
    const { id } = await ann.client.signUp(newAccount());
    const { api } = ann.client;
    const { id: channelId } = await api.chat.createChannel.mutate({ name: 'Tea', ownerId: id });
    const bob = newAccount();
    const { id: bobId } = await createClient(app).client.signUp(bob);
    await api.chat.createSubscription.mutate({ channelId, subscribedId: bobId });
    const [states, ends, told] = [[] as string[], [] as string[], [] as OutgoingMessage[]];
    const sockets: WebSocket[] = [];
    let isOffline = false;
    class Recorded extends WebSocket {
      constructor(address: string) {
        super(isOffline ? address.replace(/ticket=.*/, 'ticket=wrong') : address);
        sockets.push(this);
      }
    }
    const options = {
      url: app.url,
      client: ann.client,
      WebSocket: Recorded,
      onState: (state: string) => void states.push(state),
    };
    const chat = createChatClient({
      ...options,
      onSignedOut: () => void ends.push('chat'),
      onOutgoing: (one) => void told.push(one),
    });
    const notifications = createNotificationStream({
      ...options,
      onSignedOut: () => void ends.push('notifications'),
      onNotification() {},
    });
    onTestFinished(() => [chat, notifications].forEach((stream) => stream.close()));
    await expect.poll(() => states, PATIENCE).toEqual(['up', 'up']);
    isOffline = true;
    for (const socket of sockets) socket.terminate();
    await expect.poll(() => states, PATIENCE).toEqual(['up', 'up', 'down', 'down']);
    const sending = Promise.allSettled([
      chat.send({ channelId, content: 'of Ann' }),
      chat.send({ channelId, content: 'of Ann', files: [new Blob(['tea'], { type: 'text/plain' })] }),
    ]);
    const { client } = where === 'in its own' ? ann : createClient(app, { tokens: ann.tokens });
    await client.signOut();
    await client.signIn(bob);
    isOffline = false;
    expect((await sending).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect.poll(() => ends.toSorted(), PATIENCE).toEqual(['chat', 'notifications']);
    expect(told.at(-1)).toMatchObject({ state: 'failed' });
    expect((await api.chat.listMessages.query({ channelId })).data).toEqual([]);
  });

  it('lets no other call fail that is made in the same tick', async () => {
    const { client, requests } = createClient(app);
    await client.signUp(newAccount());
    const context = { sentBy: {} };
    await client.api.chat.createListenTicket.mutate({}, { context });
    const { id: bobId } = await client.signUp(newAccount());
    const before = requests.length;
    const [ticket, unread] = await Promise.allSettled([
      client.api.chat.createListenTicket.mutate({}, { context }),
      client.api.notifications.unreadCount.query({ identityId: bobId }),
    ]);
    expect([ticket.status, unread.status, requests.length - before]).toEqual(['rejected', 'fulfilled', 1]);
  });
});
