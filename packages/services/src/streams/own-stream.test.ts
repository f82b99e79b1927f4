import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import {
  HAS_REDIS,
  PATIENCE,
  fixture,
  openStream,
  startRedis,
  startTestServer,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openChannel, say, subscribe as join } from '../../test/chat-world.js';
import type { AppRouter } from '../router.js';

interface Told {
  type: string;
  channelId?: string;
  channel?: { id: string; name: string };
  unread?: number;
  lastSeq?: number;
}

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
let ann: Person;
let bob: Person;
beforeEach(async () => {
  [ann, bob] = [await app.signUp(), await app.signUp()];
});

/** Follows one's own channels over either face. @returns all that is told, as it comes */
const FOLLOWERS = {
  async WebSocket({ credentials }: Person, server: TestServer = app): Promise<readonly Told[]> {
    const stream = await openStream(server.url, '/messages/listen', credentials);
    onTestFinished(stream.close);
    stream.send({ type: 'subscribe', self: true });
    await stream.next('subscribed');
    const { frames } = stream as unknown as { frames: Told[] };
    return frames.splice(0, 1) && frames;
  },
  async tRPC({ accessToken }: Person, server: TestServer = app): Promise<readonly Told[]> {
    const client = createWSClient({
      url: `${server.url.replace('http', 'ws')}/trpc`,
      connectionParams: { authorization: `Bearer ${accessToken}` },
      WebSocket: WebSocket as never,
    });
    onTestFinished(() => void client.close());
    const told: Told[] = [];
    const api = createTRPCClient<AppRouter>({ links: [wsLink({ client })] });
    api.chat.ownEvents.subscribe({}, { onData: (event) => void told.push(event) });
    await expect.poll(() => told.length, PATIENCE).toBeGreaterThan(0);
    return told;
  },
};
const SUBSCRIBED = { type: 'subscribed', self: true };
const unread = (channelId: string, count: number, lastSeq: number) => ({ type: 'unread', channelId, unread: count, lastSeq });
const idOf = async (channelId: string, { id }: Person) =>
  (await ann.rest('GET', `/subscriptions?channelId=${channelId}&subscribedId=${id}`).expect<{ data: { id: string }[] }>(200))
    .data[0]?.id;

describe.each(Object.keys(FOLLOWERS) as (keyof typeof FOLLOWERS)[])('over %s, a stream of one’s own', (face) => {
  const follow = FOLLOWERS[face];

  it('begins with what is unread in each channel that has any, and tells of what changes, of others’ channels nothing', async () => {
    const [read, one, two] = [await openChannel(ann, [bob]), await openChannel(ann, [bob]), await openChannel(ann, [bob])];
    for (const { id } of [one, one, two]) await say(ann, id);
    const told = await follow(bob);
    await expect.poll(() => told.length, PATIENCE).toBe(3);
    expect(told[0]).toEqual(SUBSCRIBED);
    expect(new Set(told.slice(1))).toEqual(new Set([unread(one.id, 2, 2), unread(two.id, 1, 1)]));
    await say(ann, (await openChannel(ann)).id);
    const { id: lastReadMessageId } = await say(ann, read.id);
    await expect.poll(() => told.at(-1), PATIENCE).toEqual(unread(read.id, 1, 1));
    await bob.rest('PUT', `/channels/${read.id}/read-state`, { identityId: bob.id, lastReadMessageId }).expect(204);
    await expect.poll(() => told.at(-1), PATIENCE).toEqual(unread(read.id, 0, 1));
    expect(told).toHaveLength(5);
  });

  it('tells of channels that one joins, leaves or is removed from, and that are deleted and restored', async () => {
    const told = await follow(bob);
    const { id: channelId } = await openChannel(ann, [], { name: 'Harbour' });
    await say(ann, channelId);
    await join(ann, channelId, bob.id);
    const added = { type: 'channel.added', channel: expect.objectContaining({ id: channelId, name: 'Harbour' }) as unknown };
    const removed = { type: 'channel.removed', channelId };
    const all: object[] = [SUBSCRIBED, added, unread(channelId, 1, 1)];
    const expectTold = async (...more: object[]) => {
      all.push(...more);
      await expect.poll(() => told, PATIENCE).toEqual(all);
    };
    await expectTold();
    await ann.rest('DELETE', `/subscriptions/${await idOf(channelId, bob)}`).expect(204);
    await expectTold(removed);
    await say(ann, channelId);
    await join(ann, channelId, bob.id);
    await expectTold(added, unread(channelId, 2, 2));
    await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
    await expectTold(removed);
    await admin.rest('POST', `/channels/${channelId}/restore`).expect(200);
    await expectTold(added, unread(channelId, 2, 2));
    await say(ann, channelId);
    await expectTold(unread(channelId, 3, 3));
    const { id: own } = await openChannel(bob);
    await expectTold({ type: 'channel.added', channel: expect.objectContaining({ id: own }) as unknown });
  });

  it('merges what changes at once, and ends at the last count', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const told = await follow(bob);
    await Promise.all(Array.from({ length: 50 }, () => say(ann, channelId)));
    await expect.poll(() => told.at(-1), PATIENCE).toEqual(unread(channelId, 50, 50));
    expect(told.length).toBeLessThan(40);
  });
});

describe('on a WebSocket', () => {
  it('is one subscription, asked for anew or ended, beside those of channels', async () => {
    const { id: channelId } = await openChannel(ann);
    const limited = await startTestServer({
      mongodbUri: app.mongodbUri,
      clock: app.clock,
      code: { streamLimits: { subscriptionsPerConnection: 1 } },
    });
    onTestFinished(limited.close);
    const stream = await openStream(limited.url, '/messages/listen', ann.credentials);
    onTestFinished(stream.close);
    const own = { type: 'subscribe', self: true };
    for (const frame of [own, own]) {
      stream.send(frame);
      expect(await stream.next('subscribed')).toEqual(SUBSCRIBED);
    }
    stream.send({ type: 'subscribe', channelId });
    expect(await stream.next('error')).toMatchObject({ channelId, errorCode: 'request.tooMany', retry: true });
    stream.send({ type: 'unsubscribe', self: true });
    expect(await stream.next('unsubscribed')).toEqual({ type: 'unsubscribed', self: true });
    await say(ann, channelId);
    stream.send({ type: 'subscribe', channelId });
    expect(await stream.next('subscribed')).toMatchObject({ channelId });
    stream.send(own);
    expect(await stream.next('error')).toMatchObject({ self: true, errorCode: 'request.tooMany', retry: true });
    expect(stream.frames.filter(({ type }) => type === 'unread')).toEqual([]);
  });

  it('a subscription is to a channel or to oneself', async () => {
    const { id: channelId } = await openChannel(ann);
    const stream = await openStream(app.url, '/messages/listen', ann.credentials);
    onTestFinished(stream.close);
    for (const [frame, problem] of [
      [{ type: 'subscribe' }, "frame must have required property 'channelId'"],
      [{ type: 'unsubscribe' }, "frame must have required property 'channelId'"],
      [{ type: 'subscribe', channelId, self: true }, 'frame/self cannot be used with channelId'],
      [{ type: 'subscribe', self: true, sinceSeq: 1 }, 'frame/self cannot be used with sinceSeq'],
      [{ type: 'subscribe', self: false }, 'frame/self must be equal to one of the allowed values: true'],
    ] as const) {
      stream.send(frame);
      expect(await stream.next('error')).toMatchObject({ data: [problem] });
    }
  });
});

it.skipIf(!HAS_REDIS)('what happens at one instance is told within a second at another', async () => {
  await using redis = await startRedis();
  const options = { mongodbUri: app.mongodbUri, redisUrl: redis.url, clock: app.clock };
  const [here, there] = [await startTestServer(options), await startTestServer(options)] as const;
  onTestFinished(async () => void (await Promise.all([here.close(), there.close()])));
  const told = await FOLLOWERS.WebSocket(bob, there);
  const call = async (name: string, input: Record<string, unknown>) => {
    const outcome = await here.call('rest', `chat.${name}`, input, ann.credentials);
    return (outcome as { value: { id: string } }).value;
  };
  const within = { timeout: 1000, interval: 20 };
  const { id: channelId } = await call('createChannel', { name: 'Tea', ownerId: ann.id });
  const { id: subscriptionId } = await call('createSubscription', { channelId, subscribedId: bob.id });
  await expect.poll(() => told.at(-1), within).toMatchObject({ type: 'channel.added', channel: { id: channelId } });
  await call('createMessage', { channelId, senderId: ann.id, content: 'Hello' });
  await expect.poll(() => told.at(-1), within).toEqual(unread(channelId, 1, 1));
  await call('deleteSubscription', { subscriptionId });
  await expect.poll(() => told.at(-1), within).toEqual({ type: 'channel.removed', channelId });
});
