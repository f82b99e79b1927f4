import {
  PATIENCE,
  fixture,
  holdTime,
  newEmail,
  openStream,
  refusalOf,
  startTestServer,
  type Person,
  type TestStream,
} from '@tandem/testing';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { subscriptionModel } from '../chat/subscription.model.js';
import { openChannel, say, subscribe as addMember } from '../../test/chat-world.js';
import { answersTo, stop, subscription } from '../../test/trpc-calls.js';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
const TOO_MANY = { message: 'Too many requests', errorCode: 'request.tooMany', retry: true };

const app = fixture(() =>
  startTestServer({ code: { streamLimits: { connections: 6, subscriptionsPerConnection: 3, subscriptions: 5 } } }),
);
const ann = fixture(() => app.signUp());
let channelIds: string[];
beforeAll(async () => {
  channelIds = [];
  for (let n = 0; n < 7; n++) channelIds.push((await openChannel(ann)).id);
});

const open = () => app.tandem.facts.places.total();
/** Ends what a test has opened. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
  // nothing that a test has opened may be counted after its end
  await vi.waitUntil(() => open().connections + open().subscriptions === 0, PATIENCE);
});

/** A stream that is closed with the test. */
async function listen(path: string, person = ann): Promise<TestStream> {
  const stream = await openStream(app.url, path, person.credentials);
  endings.push(() => stream.close());
  return stream;
}
const channelAt = (n: number) => channelIds[n] as string;

async function read(stream: TestStream, ...ids: string[]): Promise<void> {
  for (const channelId of ids) stream.send({ type: 'subscribe', channelId });
  for (const channelId of ids) await stream.next('subscribed', (frame) => frame.channelId === channelId);
}

/** Asks for server-sent events, and gives the answer as soon as it begins. */
async function events(person: Person = ann, path = 'notifications.events', input: object = {}) {
  const leaving = new AbortController();
  endings.push(() => leaving.abort());
  const address = `${app.url}/trpc/${path}?input=${encodeURIComponent(JSON.stringify(input))}`;
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${person.accessToken}`, accept: 'text/event-stream' },
    signal: leaving.signal,
  });
  return { response, leave: () => leaving.abort() };
}

async function follow(stream: TestStream, channelId: string): Promise<{ id: number; answer: unknown }> {
  const call = subscription(channelId);
  stream.send(call);
  await expect.poll(() => answersTo(stream, call.id).length, PATIENCE).toBeGreaterThan(0);
  return { id: call.id, answer: answersTo(stream, call.id)[0] };
}

describe('connections of one identity', () => {
  it('are counted together, whatever their kind: one too many is 429 before it begins', async () => {
    const bob = await app.signUp();
    await listen('/notifications/listen');
    await listen('/messages/listen');
    await follow(await listen('/trpc'), channelAt(0));
    const answers = [await events(), await events(), await events()];
    expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200]);
    expect(open()).toEqual({ connections: 6, subscriptions: 4 });

    const { response: refused } = await events();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(await refused.text()).toContain('Too many requests');
    for (const path of ['/notifications/listen', '/messages/listen'])
      expect(await refusalOf(app.url, path, ann.credentials)).toMatchObject({ status: 429, headers: { 'retry-after': '10' } });
    expect(await follow(await listen('/trpc'), channelAt(0))).toMatchObject({ answer: 429 });
    expect((await events(bob)).response.status).toBe(200);

    // who leaves makes room
    answers[0]?.leave();
    await expect.poll(async () => (await events()).response.status, PATIENCE).toBe(200);
  });

  it('are counted only as long as their answers take', async () => {
    for (let n = 0; n < 10; n++) {
      const { response } = await events(ann, 'chat.channelEvents', { channelId: 'x' });
      expect(await response.text()).toContain('Validation Error');
    }
  });
});

describe('subscriptions', () => {
  it('too many for a stream of messages are refused by an error frame, and leave it as it was', async () => {
    const stream = await listen('/messages/listen');
    await read(stream, channelAt(0), channelAt(1), channelAt(2));
    stream.send({ type: 'subscribe', channelId: channelAt(3) });
    expect(await stream.next('error')).toEqual({ type: 'error', ...TOO_MANY, channelId: channelAt(3) });
    // one that is read already begins again
    await read(stream, channelAt(1));
    stream.send({ type: 'unsubscribe', channelId: channelAt(0) });
    await stream.next('unsubscribed');
    await read(stream, channelAt(3));
    await say(ann, channelAt(3));
    await stream.next('message.created');
  });

  it('too many in a handshake are refused one by one', async () => {
    const stream = await listen(`/messages/listen?${channelIds.slice(0, 4).map((id) => `channelId=${id}`).join('&')}`); // prettier-ignore
    expect(await stream.next('error')).toMatchObject(TOO_MANY);
    await expect.poll(() => stream.frames.filter(({ type }) => type === 'subscribed').length, PATIENCE).toBe(3);
  });

  it('too many for a connection at /trpc are 429, and one that ends, fails or is stopped makes room', async () => {
    const stranger = await app.signUp();
    const stream = await listen('/trpc');
    const other = await listen('/trpc', stranger);
    // each of them fails as it begins
    for (let n = 0; n < 10; n++) {
      const { id } = await follow(other, channelAt(0));
      await expect.poll(() => answersTo(other, id), PATIENCE).toContain(403);
    }
    const reading: Awaited<ReturnType<typeof follow>>[] = [];
    for (let n = 0; n < 3; n++) reading.push(await follow(stream, channelAt(n)));
    expect(reading.map(({ answer }) => answer)).toEqual(['started', 'started', 'started']);
    expect(await follow(stream, channelAt(3))).toMatchObject({ answer: 429 });
    stream.send(stop(reading[0]?.id as number));
    await expect.poll(() => answersTo(stream, reading[0]?.id as number), PATIENCE).toContain('stopped');
    expect(await follow(stream, channelAt(3))).toMatchObject({ answer: 'started' });
    // one that ends by itself
    await ann.rest('DELETE', `/channels/${channelAt(3)}`).expect(204);
    await expect.poll(() => open().subscriptions, PATIENCE).toBe(2);
    expect(await follow(stream, channelAt(4))).toMatchObject({ answer: 'started' });
    await (await app.signUpAdmin()).rest('POST', `/channels/${channelAt(3)}/restore`).expect(200);
  });

  it('of all connections of an identity are counted together', async () => {
    const [chat, trpc] = [await listen('/messages/listen'), await listen('/trpc')];
    await read(chat, channelAt(0), channelAt(1), channelAt(2));
    await follow(trpc, channelAt(3));
    const { leave } = await events();
    await expect.poll(open, PATIENCE).toEqual({ connections: 3, subscriptions: 5 });
    expect(await follow(trpc, channelAt(4))).toMatchObject({ answer: 429 });
    expect((await events()).response.status).toBe(429);
    leave();
    await expect.poll(async () => (await follow(trpc, channelAt(4))).answer, PATIENCE).toBe('started');
    // a connection that dies gives back all that it had
    chat.socket.terminate();
    await expect.poll(open, PATIENCE).toEqual({ connections: 1, subscriptions: 2 });
  });

  it('of one channel, of the own notifications, or of events, are two hundred', async () => {
    await using roomy = await startTestServer();
    const person = await roomy.signUp();
    const { id: channelId } = await openChannel(person);
    const organization = { name: 'Tea', description: '', contact_email: newEmail() };
    const { id: organizationId } = await person.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const paths = {
      'chat.channelEvents': { channelId },
      'notifications.events': {},
      'events.stream': { organizationId, since: BEFORE_ALL },
    };
    const nextSecond = holdTime();
    for (const [path, input] of Object.entries(paths)) {
      nextSecond();
      const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(roomy.url, '/trpc', person.credentials)));
      const call = (id: number) => ({ id, method: 'subscription', params: { path, input } });
      const streamOf = (id: number) => streams[id % streams.length] as TestStream;
      for (let id = 0; id < 200; id++) streamOf(id).send(call(id));
      for (let id = 0; id < 200; id++) await expect.poll(() => answersTo(streamOf(id), id), PATIENCE).toContain('data');
      nextSecond();
      streamOf(200).send(call(200));
      await expect.poll(() => answersTo(streamOf(200), 200), PATIENCE).toContain(429);
      for (const stream of streams) await stream.close();
    }
  });

  it('that are opened and stopped quickly leave nothing behind', async () => {
    const streams = await Promise.all(Array.from({ length: 4 }, () => listen('/trpc')));
    const frames = streams.map((stream) => {
      const calls = Array.from({ length: 10 }, (_, n) => subscription(channelAt(n % 2)));
      stream.send(calls.flatMap((call) => [call, stop(call.id)]));
      return { stream, calls };
    });
    const isOver = (answer: unknown) => answer === 'stopped' || typeof answer === 'number';
    for (const { stream, calls } of frames)
      await expect.poll(() => calls.every(({ id }) => answersTo(stream, id).some(isOver)), PATIENCE).toBe(true);
    await expect.poll(open, PATIENCE).toMatchObject({ subscriptions: 0 });
    expect(await follow(streams[0] as TestStream, channelAt(0))).toMatchObject({ answer: 'started' });
  });

  it('of two tabs are each its own: one that stops leaves the other', async () => {
    const tabs = [await listen('/messages/listen'), await listen('/messages/listen')] as [TestStream, TestStream];
    for (const tab of tabs) await read(tab, channelAt(0));
    await tabs[0].close();
    await say(ann, channelAt(0), 'to the other');
    await tabs[1].next('message.created');
    await expect.poll(open, PATIENCE).toEqual({ connections: 1, subscriptions: 1 });
  });
});

it('memberships of all readers are looked up by one query, each id once', async () => {
  const mongodbUri = `${app.mongodbUri}${app.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  await using watched = await startTestServer({ mongodbUri, clock: app.clock });
  const [bob, eve] = [await app.signUp(), await app.signUp()];
  await addMember(ann, channelAt(0), bob.id);
  await addMember(ann, channelAt(0), eve.id);
  const questions: { channelId: { $in: string[] }; subscribedId: { $in: string[] } }[][] = [];
  const client = watched.storage.model(subscriptionModel).db.getClient();
  client.on('commandStarted', ({ command }: { command: { find?: string; filter?: { $or?: (typeof questions)[number] } } }) => {
    if (command.find === 'subscriptions' && command.filter?.$or) questions.push(command.filter.$or);
  });
  const all = channelIds.map((id) => `channelId=${id}`).join('&');
  const tabs = [all, all].map((query) => openStream(watched.url, `/messages/listen?${query}`, ann.credentials));
  const others = [bob, eve, eve].map(({ credentials }) =>
    openStream(watched.url, `/messages/listen?channelId=${channelAt(0)}`, credentials),
  );
  const streams = await Promise.all([...tabs, ...others]);
  const subscribed = () => streams.flatMap(({ frames }) => frames.filter(({ type }) => type === 'subscribed')).length;
  await expect.poll(subscribed, PATIENCE).toBe(2 * channelIds.length + 3);
  questions.length = 0;
  await expect.poll(() => questions.length, PATIENCE).toBeGreaterThan(1);
  // ann by her channels, the others by the one that they read
  const expected = [
    { channelId: { $in: [channelAt(0)] }, subscribedId: { $in: [bob.id, eve.id].toSorted() } },
    { channelId: { $in: channelIds.toSorted() }, subscribedId: { $in: [ann.id] } },
  ];
  for (const question of questions)
    expect(
      question.map(({ channelId, subscribedId }) => ({
        channelId: { $in: channelId.$in.toSorted() },
        subscribedId: { $in: subscribedId.$in.toSorted() },
      })),
    ).toEqual(expected);
  await Promise.all(streams.map((stream) => stream.close()));
});
