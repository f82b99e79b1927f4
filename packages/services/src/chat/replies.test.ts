import {
  FACES,
  HAS_REDIS,
  NO_ID,
  PATIENCE,
  fixture,
  openStream,
  startRedis,
  startStoreProxy,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenTo, openChannel, say, valueOf } from '../../test/chat-world.js';
import { messageModel } from './message.model.js';
import type { Message } from './messages.schemas.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const admin = fixture(() => app.signUpAdmin());
const MISSING = { ok: false, status: 404, message: 'Chat message not found' };

const countOf = async ({ id }: Message) =>
  (await ann.rest('GET', `/messages/${id}`).expect<{ replyCount: number }>(200)).replyCount;

describe.each(FACES)('over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const reply = (channelId: string, replyToId: string | null, fields: object = {}) =>
    call(bob, 'createMessage', { channelId, senderId: bob.id, content: 'Reply', replyToId, ...fields });

  it('a reply names its message, which counts it, in lists, reads and frames; who stays is told of the count', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const [first, second] = [await say(ann, channelId), await say(ann, channelId)];
    expect(first).toMatchObject({ replyToId: null, replyCount: 0 });
    const events = listenTo(app, channelId);
    const one = valueOf(await reply(channelId, first.id)) as Message;
    expect(one).toMatchObject({ replyToId: first.id, replyCount: 0 });
    const counted = { ...first, replyCount: 1 };
    expect(events).toEqual([
      { type: 'message.created', channelId, message: one },
      { type: 'message.updated', channelId, message: counted },
    ]);
    expect(await call(ann, 'getMessage', { messageId: first.id })).toEqual({ ok: true, value: counted });
    expect(await call(ann, 'listMessages', { channelId })).toMatchObject({ value: { data: [one, second, counted] } });
    expect(await call(ann, 'listMessages', { channelId, $select: 'replyCount', $filter: 'replyToId eq null', $top: 5 })).toMatchObject({ value: { value: [{ replyCount: 0 }, { replyCount: 1 }] } }); // prettier-ignore
    expect(await call(ann, 'listChannels', { memberId: ann.id, limit: 1 })).toMatchObject({ value: { data: [{ lastMessage: one }] } }); // prettier-ignore
  });

  it('the replies to a message are a list, newest first, of members; those to a deleted one are not found', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const first = await say(ann, channelId);
    const replies = [valueOf(await reply(channelId, first.id)), valueOf(await reply(channelId, first.id))] as Message[];
    valueOf(await reply(channelId, replies[0]?.id ?? ''));
    const answer = await call(ann, 'listReplies', { messageId: first.id });
    expect(answer).toMatchObject({ value: { data: [{ id: replies[1]?.id }, { id: replies[0]?.id, replyCount: 1 }] } });
    expect(await call(ann, 'listReplies', { messageId: first.id, $orderby: 'seq', $top: 1 })).toMatchObject({ value: { total: 2, value: [{ id: replies[0]?.id }] } }); // prettier-ignore
    await ann.rest('DELETE', `/messages/${first.id}`).expect(204);
    expect(await call(bob, 'listReplies', { messageId: first.id })).toEqual(MISSING);
    expect(await call(admin, 'listReplies', { messageId: first.id })).toMatchObject({ status: 403 });
  });

  it('a deleted reply counts no more, a restored one again, and readers are told both', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const first = await say(ann, channelId);
    const { id } = valueOf(await reply(channelId, first.id)) as Message;
    const events = listenTo(app, channelId);
    expect(await call(bob, 'deleteMessage', { messageId: id })).toEqual({ ok: true });
    expect(await countOf(first)).toBe(0);
    expect(await call(admin, 'restoreMessage', { messageId: id })).toMatchObject({ ok: true });
    expect(await countOf(first)).toBe(1);
    const types = ['message.deleted', 'message.updated', 'message.updated', 'message.updated'];
    expect(events.map(({ type }) => type)).toEqual(types);
    expect([events[1], events[3]]).toEqual([0, 1].map((replyCount) => ({ type: 'message.updated', channelId, message: { ...first, replyCount } }))); // prettier-ignore
  });

  it('a reply to what is no living message of the channel is refused, unless it was stored before', async () => {
    const [{ id: channelId }, { id: elsewhere }] = [await openChannel(ann, [bob]), await openChannel(bob)];
    const [first, foreign] = [await say(ann, channelId), await say(bob, elsewhere)];
    const stored = await reply(channelId, first.id, { clientId: 'mine' });
    await ann.rest('DELETE', `/messages/${first.id}`).expect(204);
    for (const id of [NO_ID, first.id, foreign.id]) expect(await reply(channelId, id)).toEqual(MISSING);
    expect(await reply(channelId, first.id, { clientId: 'other' })).toEqual(MISSING);
    expect(await reply(channelId, first.id, { clientId: 'mine' })).toEqual(stored);
    expect(await reply(channelId, 'x')).toMatchObject({ status: 400 });
    const messageId = (valueOf(stored) as Message).id;
    expect(await call(bob, 'patchMessage', { messageId, replyToId: null })).toMatchObject({ status: 400 });
  });
});

it('a reply leaves the tag of its message, whose author’s change does not fail', async () => {
  const { id: channelId } = await openChannel(ann, [bob]);
  const first = await say(ann, channelId);
  const ask = (init: object = {}, headers: object = {}) =>
    fetch(`${app.url}/messages/${first.id}`, { ...init, headers: { authorization: `Bearer ${ann.accessToken}`, ...headers } });
  const tag = (await ask()).headers.get('etag') ?? '';
  await say(bob, channelId, 'Reply', { replyToId: first.id });
  const counted = await ask();
  expect(counted.headers.get('etag')).toBe(tag);
  expect(await counted.json()).toEqual({ ...first, replyCount: 1 });
  const init = { method: 'PATCH', body: JSON.stringify({ content: 'Mended' }) };
  const mended = await ask(init, { 'if-match': tag, 'content-type': 'application/json' });
  expect(await mended.json()).toMatchObject({ content: 'Mended', replyCount: 1 });
});

it('a reply is sent by a frame too', async () => {
  const { id: channelId } = await openChannel(ann);
  const first = await say(ann, channelId);
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  stream.send({ type: 'message.create', channelId, content: 'Reply', clientId: 'a', replyToId: first.id });
  expect(await stream.next('ack')).toMatchObject({ message: { replyToId: first.id, replyCount: 0 } });
  stream.send({ type: 'message.create', channelId, content: 'Reply', clientId: 'b', replyToId: NO_ID });
  expect(await stream.next('error')).toMatchObject({ clientId: 'b', message: 'Chat message not found' });
});

it.skipIf(!HAS_REDIS)(
  'replies at once on two instances are all counted, and the last that is told is the whole count',
  async () => {
    await using redis = await startRedis();
    const options = { mongodbUri: app.mongodbUri, redisUrl: redis.url, clock: app.clock };
    const servers = await Promise.all([startTestServer(options), startTestServer(options)]);
    onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))));
    const { id: channelId } = await openChannel(ann, [bob]);
    const first = await say(ann, channelId);
    const since = { sinceChange: 3 };
    const streams = await Promise.all(servers.map((server) => openStream(server.url, '/messages/listen', ann.credentials)));
    for (const stream of streams) {
      onTestFinished(stream.close);
      stream.send({ type: 'subscribe', channelId, ...since });
      await stream.next('replayed');
    }
    const send = async (n: number) => {
      const server = servers[n % 2] ?? servers[0];
      const given = { channelId, senderId: bob.id, content: `${n}`, replyToId: first.id };
      const { id } = valueOf(await server.call('rest', 'chat.createMessage', given, bob.credentials)) as Message;
      if (n % 4 === 0) valueOf(await server.call('rest', 'chat.deleteMessage', { messageId: id }, bob.credentials));
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)));
    expect(await countOf(first)).toBe(15);
    // one for each post, deletion and count
    const lastChange = 3 + 20 * 2 + 5 * 2;
    await using late = await openStream(app.url, '/messages/listen', ann.credentials);
    late.send({ type: 'subscribe', channelId, ...since });
    for (const { frames } of [...streams, late]) {
      await expect
        .poll(() => frames.findLast(({ change }) => change !== undefined), PATIENCE)
        .toMatchObject({ change: lastChange });
      const told = frames.filter(({ type, message }) => type === 'message.updated' && (message as Message).id === first.id);
      expect(told.at(-1)).toMatchObject({ message: { replyCount: 15 } });
    }
  },
);

it('who stays is told of the count that a process changed that died before it told anybody', async () => {
  const { id: channelId } = await openChannel(ann);
  const first = await say(ann, channelId);
  const reply = await say(ann, channelId, 'Reply', { replyToId: first.id });
  await app.storage.events.last();
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  stream.send({ type: 'subscribe', channelId });
  await stream.next('subscribed');
  await app.storage.model(messageModel).deleteOne({ _id: reply.id });
  await expect
    .poll(() => stream.frames.find(({ type }) => type === 'message.updated'), PATIENCE)
    .toMatchObject({ message: { id: first.id, replyCount: 0 } });
});

it('a page of messages asks for counts only where there are replies, or were, and then once', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using watched = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock });
  const { id: channelId } = await openChannel(ann);
  const messages = [await say(ann, channelId), await say(ann, channelId), await say(ann, channelId)];
  async function countsOfPage(): Promise<number> {
    const start = proxy.commands.length;
    valueOf(await watched.call('rest', 'chat.listMessages', { channelId, $top: 10 }, ann.credentials));
    return proxy.commands.slice(start).filter(({ body }) => JSON.stringify(body).includes('replyToId')).length;
  }
  expect(await countsOfPage()).toBe(0);
  for (const { id } of messages.slice(1)) await say(ann, channelId, 'Reply', { replyToId: id });
  expect(await countsOfPage()).toBe(1);
});
