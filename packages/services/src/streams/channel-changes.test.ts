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
  type TestStream,
} from '@tandem/testing';
import type { mongo } from 'mongoose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openChannel, say, subscribe as join } from '../../test/chat-world.js';
import { upload } from '../../test/uploads.js';
import { messageModel } from '../chat/message.model.js';
import type { Message } from '../chat/messages.schemas.js';
import type { AppRouter } from '../router.js';

interface Told {
  type: string;
  channelId: string;
  change?: number;
  message?: Message;
  messageId?: string;
  identityId?: string;
  channel?: { name: string };
}
type Since = { sinceChange?: number; sinceSeq?: number };

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

/** Follows a channel over either face. @returns all that is told, as it comes */
const FOLLOWERS = {
  async WebSocket(person: Person, channelId: string, since: Since, server: TestServer = app): Promise<readonly Told[]> {
    const stream = await openStream(server.url, '/messages/listen', person.credentials);
    onTestFinished(stream.close);
    stream.send({ type: 'subscribe', channelId, ...since });
    await stream.next('subscribed');
    return stream.frames as unknown as Told[];
  },
  async tRPC(person: Person, channelId: string, since: Since, server: TestServer = app): Promise<readonly Told[]> {
    const client = createWSClient({
      url: `${server.url.replace('http', 'ws')}/trpc`,
      connectionParams: { authorization: `Bearer ${person.accessToken}` },
      WebSocket: WebSocket as never,
    });
    onTestFinished(() => void client.close());
    const told: Told[] = [];
    const api = createTRPCClient<AppRouter>({ links: [wsLink({ client })] });
    api.chat.channelEvents.subscribe({ channelId, ...since }, { onData: ({ data }) => void told.push(data as unknown as Told) });
    await expect.poll(() => told.length, PATIENCE).toBeGreaterThan(0);
    return told;
  },
};

/** What a reader knows of a channel in the end: its messages, members and name. */
function stateOf(told: readonly Told[]): object {
  const messages = new Map<string, Message>();
  const members = new Set<string>();
  let name: string | undefined;
  for (const { type, message, messageId = '', identityId = '', channel } of told) {
    if (message) messages.set(message.id, message);
    if (type === 'message.deleted') messages.delete(messageId);
    if (type === 'subscription.created') members.add(identityId);
    if (type === 'subscription.deleted') members.delete(identityId);
    name = channel?.name ?? name;
  }
  const bySeq = [...messages.values()].toSorted((one, other) => one.seq - other.seq);
  return {
    messages: bySeq.map((message) => ({ ...message, attachments: message.attachments.map(({ id }) => id) })),
    members,
    name,
  };
}
const changesOf = (told: readonly Told[]) => told.flatMap(({ type, change }) => (type === 'replayed' ? [] : (change ?? [])));
const lastChangeOf = async (channelId: string) =>
  (await ann.rest('GET', `/channels/${channelId}`).expect<{ lastChange: number }>(200)).lastChange;

/** As the store has them, beside what records their changes. */
function storedMessages(): mongo.Collection {
  const { db } = app.storage.model(messageModel).db as unknown as { db: mongo.Db };
  return db.collection('messages');
}

/** Everything that can happen in a channel; attachments aside, which tell their message's readers in two ways. */
async function live(channelId: string): Promise<void> {
  const [first, second, third] = [await say(ann, channelId, '1'), await say(ann, channelId, '2'), await say(ann, channelId, '3')];
  await ann.rest('PATCH', `/messages/${first.id}`, { content: 'one' }).expect(200);
  await ann.rest('DELETE', `/messages/${second.id}`).expect(204);
  const admin = await app.signUpAdmin();
  await ann.rest('DELETE', `/messages/${third.id}`).expect(204);
  await admin.rest('POST', `/messages/${third.id}/restore`).expect(200);
  const { id } = await join(ann, channelId, bob.id);
  await ann.rest('PATCH', `/channels/${channelId}`, { name: 'Harbour' }).expect(200);
  await ann.rest('DELETE', `/subscriptions/${id}`).expect(204);
  await join(ann, channelId, admin.id);
}

describe.each(Object.keys(FOLLOWERS) as (keyof typeof FOLLOWERS)[])('over %s, a reader of changes', (face) => {
  const follow = FOLLOWERS[face];

  it('sees, when it comes back, what who stayed has seen, and what is told from then on', async () => {
    const { id: channelId } = await openChannel(ann);
    const kept = await say(ann, channelId, 'kept');
    const edited = await say(ann, channelId, 'edited while away');
    const since = { sinceChange: await lastChangeOf(channelId) };
    const stayed = await follow(ann, channelId, { sinceChange: 0 });
    await live(channelId);
    await ann.rest('PATCH', `/messages/${edited.id}`, { content: 'new' }).expect(200);
    const file = await upload(ann, `/messages/${kept.id}/attachment-upload-url`, 'text/plain', 'text');
    await ann.rest('POST', `/messages/${kept.id}/attachments`, file).expect(201);
    const lastChange = await lastChangeOf(channelId);
    expect(lastChange).toBe(since.sinceChange + 13);

    const before = await follow(ann, channelId, { sinceChange: 0 });
    const away = await follow(ann, channelId, since);
    for (const told of [before, away])
      await expect.poll(() => told.find(({ type }) => type === 'replayed'), PATIENCE).toMatchObject({ change: lastChange });
    expect(stateOf(before)).toMatchObject({ name: 'Harbour', messages: [{ content: 'kept' }, { content: 'new' }, { content: 'one' }, { content: '3' }] }); // prettier-ignore
    // it knew these before it left
    const known = [
      { type: 'message.created', channelId, message: kept },
      { type: 'message.created', channelId, message: edited },
      { type: 'subscription.created', channelId, identityId: ann.id },
    ];
    expect(stateOf([...known, ...away])).toEqual(stateOf(before));
    const last = await say(ann, channelId, 'last');
    for (const told of [stayed, before, away]) {
      await expect.poll(() => told.at(-1), PATIENCE).toMatchObject({ type: 'message.created', message: { id: last.id } });
      const numbers = changesOf(told);
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      expect(new Set(numbers).size).toBe(numbers.length);
    }
    expect(changesOf(stayed)).toEqual(Array.from({ length: lastChange + 1 }, (_, n) => n + 1));
  });

  it('from 0 gets the messages from before changes were numbered too, by their numbers', async () => {
    const { id: channelId } = await openChannel(ann);
    for (const content of ['1', '2', '3']) await say(ann, channelId, content);
    // all of it has been told
    await app.storage.events.last();
    const messages = storedMessages();
    await messages.deleteMany({ channelId, seq: { $lt: 0 } });
    await messages.updateMany({ channelId }, { $unset: { change: '' } });
    // another instance, which remembers nothing
    const other = await startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock });
    onTestFinished(other.close);
    const fresh = await follow(ann, channelId, { sinceChange: 0 }, other);
    await expect.poll(() => fresh.at(-1)?.type, PATIENCE).toBe('replayed');
    const given = { channelId, senderId: ann.id, content: '4' };
    await other.call('rest', 'chat.createMessage', given, ann.credentials);
    await expect.poll(() => fresh.at(-1), PATIENCE).toMatchObject({ type: 'message.created', change: 1, message: { seq: 4 } });
    expect(fresh.flatMap(({ change, message }) => (message ? [[change, message.seq]] : []))).toEqual([[0, 1], [0, 2], [0, 3], [1, 4]]); // prettier-ignore
  });

  it('that has seen more than there is, as before a backup was restored, is told where the channel ends', async () => {
    const { id: channelId } = await openChannel(ann);
    const told = await follow(ann, channelId, { sinceChange: 1000 });
    await expect.poll(() => told.map(({ type }) => type).slice(-2), PATIENCE).toEqual(['subscribed', 'replayed']);
    expect(told.at(-1)).toMatchObject({ type: 'replayed', change: 1 });
    await say(ann, channelId);
    await expect.poll(() => told.at(-1), PATIENCE).toMatchObject({ type: 'message.created', change: 2 });
  });

  it('is told of what a process wrote that died before it told anybody, or a host without this service', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id } = await say(ann, channelId);
    const told = await follow(ann, channelId, { sinceChange: 2 });
    await app.storage.model(messageModel).updateOne({ _id: id }, { $set: { content: 'written by a host' } });
    const change = { type: 'message.updated', change: 3, message: { content: 'written by a host' } };
    await expect.poll(() => told.at(-1), PATIENCE).toMatchObject(change);
    await app.storage.model(messageModel).deleteOne({ _id: id });
    await expect.poll(() => told.at(-1), PATIENCE).toMatchObject({ type: 'message.deleted', change: 4, messageId: id });
  });
});

it('a reader begins after a change or after a message, not both', async () => {
  const { id: channelId } = await openChannel(ann);
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  stream.send({ type: 'subscribe', channelId, sinceSeq: 0, sinceChange: 0 });
  expect(await stream.next('error')).toMatchObject({ channelId, data: ['frame/sinceChange cannot be used with sinceSeq'] });
});

it('channels are listed and read with the number of their last change', async () => {
  const { id: channelId } = await openChannel(ann, [bob]);
  await say(ann, channelId);
  for (const query of [`memberId=${bob.id}`, `memberId=${bob.id}&$select=lastChange&$top=1`])
    expect(await bob.rest('GET', `/channels?${query}`).expect(200)).toMatchObject(
      query.includes('$') ? { value: [{ lastChange: 3 }] } : { data: [{ id: channelId, lastChange: 3 }] },
    );
  expect(await ann.rest('GET', `/channels?ownerId=${ann.id}&limit=1`).expect(200)).toMatchObject({ data: [{ lastChange: 3 }] });
  expect(await lastChangeOf(channelId)).toBe(3);
});

it.skipIf(!HAS_REDIS)('changes of two instances at once reach the readers of both in one order, without a gap', async () => {
  await using redis = await startRedis();
  const { clock } = app;
  const options = { mongodbUri: app.mongodbUri, redisUrl: redis.url, clock };
  const servers = [await startTestServer(options), await startTestServer(options)] as const;
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.close()))));
  const { id: channelId } = await openChannel(ann);
  const readers: TestStream[] = [];
  for (const server of servers) {
    const stream = await openStream(server.url, '/messages/listen', ann.credentials);
    onTestFinished(stream.close);
    stream.send({ type: 'subscribe', channelId });
    await stream.next('subscribed');
    readers.push(stream);
  }
  const act = async (n: number) => {
    const server = servers[n % 2] as TestServer;
    const call = (name: string, input: Record<string, unknown>) => server.call('rest', `chat.${name}`, input, ann.credentials);
    const posted = await call('createMessage', { channelId, senderId: ann.id, content: `${n}` });
    const { id: messageId } = (posted as { value: Message }).value;
    if (n % 3 === 0) await call('patchMessage', { messageId, content: `${n} again` });
    if (n % 4 === 0) await call('deleteMessage', { messageId });
  };
  await Promise.all(Array.from({ length: 60 }, (_, n) => act(n)));
  const all = Array.from({ length: 60 + 20 + 15 }, (_, n) => n + 2);
  for (const { frames } of readers) {
    const changes = () => changesOf(frames as unknown as Told[]);
    await expect.poll(() => changes().at(-1), PATIENCE).toBe(all.at(-1));
    const told = changes();
    expect(told).toEqual(all.filter((change) => told.includes(change)));
    // where a reader looked up what it missed, a deletion stands for the edit before it: of every twelfth message
    expect(all.length - told.length).toBeLessThanOrEqual(60 / 12);
  }
});

it('a change of a message that is not asked for yet takes no earlier one’s place', async () => {
  const { id: channelId } = await openChannel(ann);
  const { id } = await say(ann, channelId);
  await ann.rest('PATCH', `/messages/${id}`, { content: 'new' }).expect(200);
  const since = (change: number, upTo?: number) => app.tandem.services.chat.changesSince(channelId, change, 100, upTo);
  const edit = (await since(0)).changes.at(-1)?.change ?? 0;
  await ann.rest('PATCH', `/messages/${id}`, { content: 'newer' }).expect(200);
  const { changes } = await since(edit - 1, edit);
  expect(changes).toMatchObject([{ change: edit, event: { type: 'message.updated', message: { id } } }]);
});
