import {
  HAS_REDIS,
  databaseOf,
  fixture,
  isCommand,
  openStream,
  startRedis,
  startServerProcess,
  startStoreProxy,
  startTestServer,
  type Frame,
  type Person,
  type TestStream,
} from '@tandem/testing';
import type { mongo } from 'mongoose';
import { describe, expect, it } from 'vitest';
import { openChannel, say, subscribe as join } from '../../test/chat-world.js';
import { messageModel } from '../chat/message.model.js';

/** Within seconds: those who stay look every two. */
const SECONDS = { timeout: 8000 };
const mongodbUri = databaseOf('untold');
const NOBODY = new Date('9000-01-01');

interface Scene {
  channelId: string;
  messageId: string;
  /** Bob's, who reads. */
  subscriptionId: string;
  guest: Person;
}
interface Deed {
  request(scene: Scene): [method: string, path: string, body?: object];
  /** What it numbers, in order; only the last is not announced. */
  types: string[];
  /** What the member's own stream is told. */
  own?: string;
}
const content = { content: 'Hello' };
const DEEDS: Record<string, Deed> = {
  'a message': {
    request: ({ channelId }) => ['POST', '/messages', { channelId, ...content }],
    types: ['message.created'],
    own: 'unread',
  },
  'the count of replies': {
    request: ({ channelId, messageId }) => ['POST', '/messages', { channelId, replyToId: messageId, ...content }],
    types: ['message.created', 'message.updated'],
  },
  'an edit': { request: ({ messageId }) => ['PATCH', `/messages/${messageId}`, content], types: ['message.updated'] },
  'a deletion': { request: ({ messageId }) => ['DELETE', `/messages/${messageId}`], types: ['message.deleted'] },
  'a reaction': { request: ({ messageId }) => ['PUT', `/messages/${messageId}/reactions/ok`], types: ['reaction.created'] },
  'a pin': { request: ({ messageId }) => ['PUT', `/messages/${messageId}/pin`], types: ['pin.created'] },
  'a name': { request: ({ channelId }) => ['PATCH', `/channels/${channelId}`, { name: 'Tea' }], types: ['channel.updated'] },
  'a member': {
    request: ({ channelId, guest }) => ['POST', '/subscriptions', { channelId, subscribedId: guest.id }],
    types: ['subscription.created'],
  },
  'a departure': {
    request: ({ subscriptionId }) => ['DELETE', `/subscriptions/${subscriptionId}`],
    types: ['subscription.deleted'],
    own: 'channel.removed',
  },
};

describe.skipIf(!HAS_REDIS)('readers on other instances (skipped where there is no redis-server)', () => {
  const redis = fixture(startRedis);
  const proxy = fixture(() => startStoreProxy(mongodbUri));
  const here = fixture(() => startTestServer({ mongodbUri, redisUrl: redis.url }));
  const there = fixture(() => startTestServer({ mongodbUri, redisUrl: redis.url, clock: here.clock }));

  /** While nobody may, nothing is appended to the log of events. */
  async function mayAppend(isAllowed: boolean): Promise<void> {
    const { db } = here.storage.model(messageModel).db as unknown as { db: mongo.Db };
    const $set = { owner: 'nobody', leaseUntil: isAllowed ? new Date(0) : NOBODY };
    await db.collection('eventLog').updateOne({}, { $set });
  }

  it('are told within seconds, once, what a process has numbered and not announced when it dies', async () => {
    const [ann, bob, guest] = [await here.signUp(), await here.signUp(), await here.signUp()];
    const dying = await startServerProcess({ MONGODB_URI: proxy.uri, MONGODB_POOL_SIZE: '64', REDIS_URL: redis.url });
    const follow = async (frame: object): Promise<TestStream> => {
      const stream = await openStream(there.url, '/messages/listen', bob.credentials);
      stream.send({ type: 'subscribe', ...frame });
      await stream.next('subscribed');
      return stream;
    };
    const ofGuest = await openStream(there.url, '/messages/listen', guest.credentials);
    ofGuest.send({ type: 'subscribe', self: true });
    await ofGuest.next('subscribed');
    const own = await follow({ self: true });
    const scenes = new Map<string, Scene & { stream: TestStream }>();
    for (const name of Object.keys(DEEDS)) {
      const { id: channelId } = await openChannel(ann);
      const { id: subscriptionId } = await join(ann, channelId, bob.id);
      const { id: messageId } = await say(ann, channelId);
      scenes.set(name, { channelId, messageId, subscriptionId, guest, stream: await follow({ channelId }) });
    }
    await here.storage.events.last();
    await mayAppend(false);

    const isInsert = isCommand('messages.insert');
    for (const [name, { request, types }] of Object.entries(DEEDS)) {
      if (types.length > 1) void proxy.seen(isInsert);
      // it is done, and the process never learns of it
      const { reached } = proxy.hold(isInsert, 'after');
      const scene = scenes.get(name) as Scene;
      const [method, path, body] = request(scene);
      const given = path === '/messages' ? { ...body, senderId: ann.id } : body;
      void dying.rest(method, path, given, ann.credentials).then(
        () => {},
        () => {},
      );
      await reached;
      const numbered = () => here.storage.model(messageModel).collection.countDocuments({ channelId: scene.channelId });
      await expect.poll(numbered).toBe(3 + types.length);
    }
    await dying.kill();
    await mayAppend(true);

    const lasting = ({ frames }: TestStream) => frames.filter((frame) => 'change' in frame);
    // ended by the watch over members, if that is faster
    const ended = scenes.get('a departure')?.stream;
    await ended?.next('unsubscribed');
    expect(ended?.frames.filter(({ type }) => type === 'subscription.deleted').length).toBeLessThanOrEqual(1);
    for (const [name, { types, own: ofBob }] of Object.entries(DEEDS)) {
      const { stream, channelId } = scenes.get(name) as Scene & { stream: TestStream };
      const told = () => (stream === ended ? types : lasting(stream).map(({ type }) => type));
      await expect.poll(told, { ...SECONDS, message: name }).toEqual(types);
      const numbers = stream === ended ? [] : lasting(stream).map(({ change }) => change);
      expect(numbers).toEqual(stream === ended ? [] : types.map((_, at) => 4 + at));
      // one was unread before
      const toldBob = (frame: Frame) => frame.type === ofBob && frame['channelId'] === channelId && frame['unread'] !== 1;
      await expect.poll(() => own.frames.filter(toldBob).length, { ...SECONDS, message: name }).toBe(ofBob ? 1 : 0);
    }
    const added = () => ofGuest.frames.filter(({ type }) => type === 'channel.added').length;
    await expect.poll(added, SECONDS).toBe(1);
    for (const { stream } of scenes.values()) await stream.close();
    for (const stream of [own, ofGuest]) await stream.close();
  });
});
