import {
  FACES,
  HAS_REDIS,
  NO_ID,
  PATIENCE,
  fixture,
  openStream,
  startRedis,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenTo, openChannel, say, valueOf } from '../../test/chat-world.js';
import { messageModel } from './message.model.js';
import type { Message } from './messages.schemas.js';
import { pinModel } from './pin.model.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const admin = fixture(() => app.signUpAdmin());
const FULL = { ok: false, status: 409, message: 'There must NOT be more than 100 pinned messages in the channel' };
const pinnedIn = async (channelId: string) =>
  (await ann.rest('GET', `/channels/${channelId}/pins?limit=50`).expect<{ data: Message[] }>(200)).data;

/** Pins of messages that there are not, on all places of a channel but some. */
async function fill(channelId: string, free: number): Promise<void> {
  const pins = Array.from({ length: 100 - free }, (_, place) => ({ channelId, messageId: `none ${channelId} ${place}`, identityId: ann.id, place })); // prettier-ignore
  await app.storage.model(pinModel).insertMany(pins);
}

describe.each(FACES)('over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);

  it('the owner and admins pin and unpin, repeatedly too; members list what is pinned, and readers are told', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const [first, second] = [await say(bob, channelId), await say(bob, channelId)];
    const events = listenTo(app, channelId);
    expect(await call(ann, 'pinMessage', { messageId: first.id })).toEqual({ ok: true });
    app.clock.advance(1000);
    expect(await call(admin, 'pinMessage', { messageId: second.id })).toEqual({ ok: true });
    expect(await call(admin, 'pinMessage', { messageId: first.id })).toEqual({ ok: true });
    const pinned = valueOf(await call(bob, 'listPins', { channelId })) as { data: { pinnedAt: string }[] };
    expect(pinned.data).toEqual([
      { ...second, pinnedBy: admin.id, pinnedAt: expect.any(String) },
      { ...first, pinnedBy: ann.id, pinnedAt: expect.any(String) },
    ]);
    expect((pinned.data[0]?.pinnedAt ?? '') > (pinned.data[1]?.pinnedAt ?? '')).toBe(true);
    const asked = { channelId, $filter: `pinnedBy eq '${ann.id}'`, $expand: 'sender', $select: 'pinnedAt' };
    expect(await call(bob, 'listPins', asked)).toMatchObject({ value: { data: [{ id: first.id, sender: { id: bob.id } }] } });
    for (const who of [admin, ann]) expect(await call(who, 'unpinMessage', { messageId: first.id })).toEqual({ ok: true });
    expect(events).toEqual([
      { type: 'pin.created', channelId, messageId: first.id, identityId: ann.id },
      { type: 'pin.created', channelId, messageId: second.id, identityId: admin.id },
      { type: 'pin.deleted', channelId, messageId: first.id, identityId: admin.id },
    ]);
    expect(await pinnedIn(channelId)).toMatchObject([{ id: second.id }]);
    for (const procedure of ['pinMessage', 'unpinMessage']) {
      expect(await call(bob, procedure, { messageId: first.id })).toMatchObject({ status: 403 });
      expect(await call(admin, procedure, { messageId: NO_ID })).toEqual({ ok: false, status: 404, message: 'Chat message not found' }); // prettier-ignore
    }
  });

  it('a channel has 100 at most; unpinning and deletion free a place, and a restored message is not pinned again', async () => {
    const { id: channelId } = await openChannel(ann);
    const messages = [await say(ann, channelId), await say(ann, channelId), await say(ann, channelId)] as const;
    const pin = (at: 0 | 1 | 2) => call(ann, 'pinMessage', { messageId: messages[at].id });
    await fill(channelId, 1);
    expect(await pin(0)).toEqual({ ok: true });
    expect(await pin(1)).toEqual(FULL);
    expect(await pin(0)).toEqual({ ok: true });
    await ann.rest('DELETE', `/messages/${messages[0].id}`).expect(204);
    expect(await pin(1)).toEqual({ ok: true });
    expect(await pin(2)).toEqual(FULL);
    await ann.rest('DELETE', `/messages/${messages[1].id}/pin`).expect(204);
    expect(await pin(2)).toEqual({ ok: true });
    await admin.rest('POST', `/messages/${messages[0].id}/restore`).expect(200);
    expect((await pinnedIn(channelId)).map(({ id }) => id)).toEqual([messages[2].id]);
  });
});

it('a pin leaves the tag and time of its message, and no event shows it', async () => {
  const { id: channelId } = await openChannel(ann);
  const message = await say(ann, channelId);
  const ask = () => fetch(`${app.url}/messages/${message.id}`, { headers: { authorization: `Bearer ${ann.accessToken}` } });
  const before = await ask();
  const since = await app.storage.events.last();
  await ann.rest('PUT', `/messages/${message.id}/pin`).expect(204);
  await ann.rest('DELETE', `/messages/${message.id}/pin`).expect(204);
  const after = await ask();
  expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
  expect(await after.json()).toEqual(await before.json());
  const { data, nextSince } = await admin
    .rest('GET', `/events?since=${since}`)
    .expect<{ data: object[]; nextSince: string }>(200);
  expect(data).toEqual([]);
  expect(nextSince > (since ?? '')).toBe(true);
});

it.skipIf(!HAS_REDIS)(
  'pins at once on two instances fill the places exactly, and who returns sees what who stayed sees',
  async () => {
    await using redis = await startRedis();
    const options = { mongodbUri: app.mongodbUri, redisUrl: redis.url, clock: app.clock };
    const servers = await Promise.all([startTestServer(options), startTestServer(options)]);
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))));
    const { id: channelId } = await openChannel(ann);
    const messages: Message[] = [];
    for (let n = 0; n < 12; n++) messages.push(await say(ann, channelId));
    await fill(channelId, 8);
    const listen = async (url: string) => {
      const stream = await openStream(url, '/messages/listen', ann.credentials);
      onTestFinished(stream.close);
      stream.send({ type: 'subscribe', channelId, sinceChange: 13 });
      await stream.next('replayed');
      return stream;
    };
    const stayed = await Promise.all(servers.map(({ url }) => listen(url)));
    const call = (n: number, name: string, { id: messageId }: Message) =>
      (servers[n % 2] ?? servers[0]).call('rest', `chat.${name}`, { messageId }, ann.credentials);
    // twice each, on either
    const outcomes = await Promise.all(messages.flatMap((one) => [0, 1].map((n) => call(n, 'pinMessage', one))));
    const pinned = await pinnedIn(channelId);
    expect(pinned).toHaveLength(8);
    for (const [at, outcome] of outcomes.entries()) {
      const isPinned = pinned.some(({ id }) => id === messages[Math.floor(at / 2)]?.id);
      expect(isPinned ? [{ ok: true }] : [FULL]).toContainEqual(outcome);
    }
    // of what is pinned, half is unpinned and pinned again at once
    await Promise.all(pinned.slice(0, 4).flatMap((one) => [call(0, 'unpinMessage', one), call(1, 'pinMessage', one)]));
    await say(ann, channelId, 'last');
    const ids = async () => new Set((await pinnedIn(channelId)).map(({ id }) => id));
    for (const stream of [...stayed, await listen(app.url)])
      await expect
        .poll(() => {
          const now = new Set<unknown>();
          for (const { type, messageId } of stream.frames) {
            // the others fill the channel
            if (type === 'pin.created' && !String(messageId).startsWith('none')) now.add(messageId);
            if (type === 'pin.deleted') now.delete(messageId);
          }
          return now;
        }, PATIENCE)
        .toEqual(await ids());
  },
);

it('readers are told of pins that a process changed that died before it told anybody, and that go with a message', async () => {
  const { id: channelId } = await openChannel(ann);
  const [one, other] = [await say(ann, channelId), await say(ann, channelId)];
  await ann.rest('PUT', `/messages/${other.id}/pin`).expect(204);
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  stream.send({ type: 'subscribe', channelId });
  await stream.next('subscribed');
  const Pins = app.storage.model(pinModel);
  await Pins.create({ channelId, messageId: one.id, identityId: bob.id, place: 100 });
  const last = () => stream.frames.findLast(({ type }) => type.startsWith('pin.'));
  await expect.poll(last, PATIENCE).toMatchObject({ type: 'pin.created', messageId: one.id, identityId: bob.id, change: 5 });
  await Pins.deleteOne({ messageId: one.id }, { hard: true });
  await expect.poll(last, PATIENCE).toMatchObject({ type: 'pin.deleted', messageId: one.id, change: 6 });
  // by a host, or a process that has died since
  await app.storage.model(messageModel).deleteOne({ _id: other.id });
  await expect.poll(last, PATIENCE).toMatchObject({ type: 'pin.deleted', messageId: other.id, change: 8 });
  expect(await Pins.exists({ channelId })).toBeNull();
});
