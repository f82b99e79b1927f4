import {
  HAS_REDIS,
  fixture,
  openStream,
  startRedis,
  startTestServer,
  type Frame,
  type Person,
  type TestStream,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say, subscribe } from '../../test/chat-world.js';
import type { Message } from '../chat/messages.schemas.js';

const PATH = '/messages/listen';
/** What ends a reading acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 20 };
type Created = Frame & { message: Message };

const app = fixture(startTestServer);
/** Another instance, which hears nothing of the first. */
const second = fixture(() => startTestServer({ clock: app.clock }));
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const listen = async (person: Person, channelId: string, server = app) => {
  const stream = await openStream(server.url, `${PATH}?channelId=${channelId}`, person.credentials);
  await stream.next('subscribed');
  return stream;
};
const typesOf = ({ frames }: TestStream) => frames.map(({ type }) => type);

describe('a member who is removed', () => {
  const removals: Record<string, (channelId: string, subscriptionId: string) => Promise<unknown>> = {
    'by the owner': (_, id) => ann.rest('DELETE', `/subscriptions/${id}`).expect(204),
    'by a deletion of the channel': (id) => ann.rest('DELETE', `/channels/${id}`).expect(204),
  };
  it.each(Object.keys(removals))(
    '%s hears nothing more within a second, on every instance, and keeps the stream',
    async (name) => {
      const { id: channelId } = await openChannel(ann);
      const { id } = await subscribe(ann, channelId, bob.id);
      const streams = [await listen(bob, channelId), await listen(bob, channelId, second)];
      await removals[name]?.(channelId, id);
      for (const stream of streams) {
        await expect.poll(() => typesOf(stream), SOON).toContain('unsubscribed');
        const { length } = stream.frames;
        stream.send({ type: 'typing', channelId });
        expect(await stream.next('error')).toMatchObject({ message: 'Identity is not subscribed to the channel' });
        stream.send({ type: 'message.create', channelId, content: 'x', clientId: 'x' });
        expect(await stream.next('error')).toMatchObject({ message: 'Identity is not subscribed to the channel' });
        expect(typesOf(stream).slice(length)).toEqual(['error', 'error']);
        await stream.close();
      }
    },
  );

  it('and the others stay', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id } = await subscribe(ann, channelId, bob.id);
    await using stays = await listen(ann, channelId);
    await using leaves = await listen(bob, channelId);
    await bob.rest('DELETE', `/subscriptions/${id}`).expect(204);
    await leaves.next('unsubscribed');
    await say(ann, channelId);
    await stays.next('message.created');
    expect(typesOf(leaves)).not.toContain('message.created');
  });
});

describe('frames of the stream of messages', () => {
  it('of a guest write nothing', async () => {
    const guest = await app.signUp();
    const { id: channelId } = await openChannel(ann);
    await subscribe(ann, channelId, guest.id);
    const admin = await app.signUpAdmin();
    await admin.rest('PATCH', `/identities/${guest.id}`, { typeId: 'guest' }).expect(200);
    await using stream = await listen(guest, channelId);
    stream.send({ type: 'message.create', channelId, content: 'x', clientId: 'x' });
    expect(await stream.next('error')).toEqual({
      type: 'error',
      message: 'Identity is not authorized to access this resource',
      errorCode: 'rules.notAdmin',
      clientId: 'x',
      channelId,
    });
    stream.send({ type: 'typing', channelId });
    expect(await stream.next('error')).toMatchObject({ errorCode: 'rules.notAdmin', channelId });
  });

  it('name no sender, and none of the fields of a prototype', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    await using stream = await listen(bob, channelId);
    for (const frame of [
      `{"type":"message.create","channelId":"${channelId}","content":"x","clientId":"x","senderId":"${ann.id}"}`,
      `{"type":"message.create","channelId":"${channelId}","content":"x","clientId":"x","__proto__":{"senderId":"${ann.id}"}}`,
      `{"type":"subscribe","channelId":{"$ne":null}}`,
      `{"type":"subscribe","channelId":"${channelId}","sinceSeq":{"$gt":0}}`,
      `{"type":"read","channelId":"${channelId}","messageId":{"$ne":null}}`,
      `{"type":"constructor"}`,
      `[]`,
      `null`,
    ]) {
      stream.send(frame);
      expect(await stream.next('error')).toMatchObject({ message: 'Validation Error' });
    }
  });

  it('of twenty clients at once, on two instances, are numbered without a gap', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const streams = await Promise.all(
      Array.from({ length: 20 }, (_, n) => listen(n % 2 ? ann : bob, channelId, n % 3 ? app : second)),
    );
    for (const [n, stream] of streams.entries())
      for (let m = 0; m < 5; m++) stream.send({ type: 'message.create', channelId, content: 'x', clientId: `${n} ${m}` });
    for (const stream of streams) for (let m = 0; m < 5; m++) await stream.next('ack');
    const seqs = streams.flatMap(({ frames }) =>
      frames.flatMap((frame) => (frame.type === 'ack' ? [(frame as Created).message.seq] : [])),
    );
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    await Promise.all(streams.map((stream) => stream.close()));
  });
});

describe.skipIf(!HAS_REDIS)('two instances with one Redis (left out where there is no redis-server)', () => {
  const seqsOf = ({ frames }: TestStream) =>
    frames.flatMap((frame) => (frame.type === 'message.created' ? [(frame as Created).message.seq] : []));
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

  it('send each other’s readers everything in order and once, even through an outage', async () => {
    await using redis = await startRedis();
    await using here = await startTestServer({ redisUrl: redis.url, clock: app.clock });
    await using there = await startTestServer({ redisUrl: redis.url, clock: app.clock });
    const { id: channelId } = await openChannel(ann, [bob]);
    const readers = [await listen(ann, channelId, here), await listen(bob, channelId, there)];
    let sent = 0;
    async function postFromBoth(count: number): Promise<void> {
      await Promise.all(
        Array.from({ length: count }, (_, n) =>
          (n % 2 ? here : there).tandem.services.chat.post({ channelId, senderId: ann.id, content: 'x' }),
        ),
      );
      sent += count;
    }
    async function expectAll(): Promise<void> {
      for (const reader of readers) {
        await expect.poll(() => seqsOf(reader).length, { timeout: 15_000 }).toBeGreaterThanOrEqual(sent);
        expect(seqsOf(reader)).toEqual(upTo(sent));
      }
    }
    await postFromBoth(100);
    await expectAll();
    await redis.stop();
    await postFromBoth(50);
    await redis.start();
    await expectAll();
    await postFromBoth(50);
    await expectAll();
    await Promise.all(readers.map((reader) => reader.close()));
  });

  it('close a stream at once when its session ends at the other', async () => {
    await using redis = await startRedis();
    await using here = await startTestServer({ redisUrl: redis.url, clock: app.clock });
    await using there = await startTestServer({ redisUrl: redis.url, clock: app.clock });
    const eve = await here.signUp();
    const { id: channelId } = await openChannel(ann);
    await subscribe(ann, channelId, eve.id);
    const stream = await listen(eve, channelId, there);
    await here.rest('POST', '/auth/logout', {}, eve.credentials).expect(204);
    expect(await stream.closed).toEqual({ code: 1008, reason: 'the session has ended' });
  });
});
