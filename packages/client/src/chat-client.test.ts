import { randomUUID } from 'node:crypto';
import { PATIENCE, fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, EXPIRY_MS } from '../test/clients.js';
import {
  createChatClient,
  isError,
  type ChatClientOptions,
  type ChatEvent,
  type SentMessage,
  type TandemError,
} from './index.js';

const app = fixture(startTestServer);
let ann: Person;
beforeAll(async () => {
  ann = await app.signUp();
});

/** Records a client's sockets, so that a test can cut them. */
function createSockets() {
  const open: WebSocket[] = [];
  const sockets = { open, sent: [] as string[], received: [] as string[], failing: 0 };
  class Recorded extends WebSocket {
    constructor(address: string) {
      super(sockets.failing-- > 0 ? address.replace(/ticket=.*/, 'ticket=wrong') : address);
      open.push(this);
      this.on('message', (data: Buffer) => sockets.received.push(data.toString()));
    }
    override send(text: never): void {
      sockets.sent.push(String(text));
      super.send(text);
    }
  }
  return Object.assign(sockets, { WebSocket: Recorded, cut: () => open.at(-1)?.terminate() });
}

async function open(person: Person, options: Partial<ChatClientOptions> = {}, server = app) {
  const sockets = createSockets();
  const states: string[] = [];
  const { client, tokens } = createClient(server);
  await tokens.save({ identityId: person.id, accessToken: person.accessToken, refreshToken: person.refreshToken });
  const { WebSocket: constructor } = sockets;
  const chat = createChatClient({
    url: server.url,
    client,
    WebSocket: constructor,
    onState: (state) => void states.push(state),
    ...options,
  });
  onTestFinished(() => chat.close());
  return { chat, sockets, states };
}

async function openChannel(owner: Person, members: Person[] = []): Promise<string> {
  const { id } = await owner.rest('POST', '/channels', { name: 'Tea', ownerId: owner.id }).expect<{ id: string }>(201);
  for (const member of members)
    await owner.rest('POST', '/subscriptions', { channelId: id, subscribedId: member.id }).expect(201);
  return id;
}

/** Follows a channel, and records the events. */
function follow(chat: Awaited<ReturnType<typeof open>>['chat'], channelId: string, sinceSeq?: number) {
  const followed = {
    events: [] as ChatEvent[],
    standings: [] as object[],
    ends: [] as string[],
    refusals: [] as (TandemError | undefined)[],
    stop: () => {},
  };
  followed.stop = chat.follow(
    channelId,
    {
      onEvent: (event) => void followed.events.push(event),
      onSubscribed: (standing) => void followed.standings.push(standing),
      onEnd(reason, refusal) {
        followed.ends.push(reason);
        followed.refusals.push(refusal);
      },
    },
    sinceSeq === undefined ? {} : { sinceSeq },
  );
  return followed;
}
const messagesOf = ({ events }: { events: ChatEvent[] }): SentMessage[] =>
  events.flatMap((event) => (event.type === 'message.created' ? [event.message] : []));

describe('the chat client', () => {
  it('follows a channel and sends messages, each acknowledged when stored', async () => {
    const channelId = await openChannel(ann);
    const { chat } = await open(ann);
    const followed = follow(chat, channelId);
    await expect.poll(() => followed.standings, PATIENCE).toMatchObject([{ lastSeq: 0, unread: 0 }]);
    const message = await chat.send({ channelId, content: 'Grüße' });
    expect(message).toMatchObject({ channelId, senderId: ann.id, content: 'Grüße', seq: 1 });
    await expect.poll(() => messagesOf(followed), PATIENCE).toEqual([message]);
    chat.markRead(channelId, message.id);
    await expect.poll(() => followed.events.at(-1), PATIENCE).toMatchObject({ type: 'read', seq: 1 });
  });

  it('resumes after a drop, without duplicates', async () => {
    const channelId = await openChannel(ann);
    const { chat, sockets, states } = await open(ann);
    const followed = follow(chat, channelId);
    for (let round = 0; round < 3; round++) {
      await chat.send({ channelId, content: `before ${round}` });
      sockets.cut();
      await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: `missed ${round}` });
      await chat.send({ channelId, content: `after ${round}` });
    }
    await expect.poll(() => messagesOf(followed).map(({ seq }) => seq), PATIENCE).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(states.filter((state) => state === 'up').length).toBeGreaterThanOrEqual(4);
  });

  it('asks for the senders of messages on request, and again after a drop', async () => {
    const channelId = await openChannel(ann);
    const { chat, sockets } = await open(ann);
    const events: ChatEvent[] = [];
    chat.follow(channelId, { onEvent: (event) => void events.push(event) }, { expand: ['sender'] });
    await chat.send({ channelId, content: 'before' });
    await expect.poll(() => messagesOf({ events }), PATIENCE).toMatchObject([{ sender: { id: ann.id } }]);
    sockets.cut();
    await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: 'missed' });
    await expect.poll(() => messagesOf({ events }).map(({ sender }) => sender?.id), PATIENCE).toEqual([ann.id, ann.id]);
  });

  it('resends unacknowledged messages under the same name, so each is stored once', async () => {
    const channelId = await openChannel(ann);
    const { chat, sockets } = await open(ann);
    const followed = follow(chat, channelId);
    await expect.poll(() => followed.standings.length, PATIENCE).toBe(1);
    const sending = [1, 2, 3].map((n) => chat.send({ channelId, content: String(n) }));
    sockets.cut();
    expect((await Promise.all(sending)).map(({ content }) => content)).toEqual(['1', '2', '3']);
    expect(sockets.sent.filter((text) => text.includes('message.create'))).toHaveLength(6);
    await expect.poll(() => messagesOf(followed).map(({ content }) => content), PATIENCE).toEqual(['1', '2', '3']);
  });

  it('sends more than the server accepts in a second, in order', async () => {
    const channelId = await openChannel(ann);
    const { chat } = await open(ann);
    const contents = Array.from({ length: 100 }, (_, n) => String(n));
    const sent = await Promise.all(contents.map((content) => chat.send({ channelId, content })));
    expect(sent.toSorted((a, b) => a.seq - b.seq).map(({ content }) => content)).toEqual(contents);
  });

  it('follows more channels than it may name in a second, and again after a drop, without a refusal', async () => {
    const channelIds = await Promise.all(Array.from({ length: 60 }, () => openChannel(ann)));
    const { chat, sockets, states } = await open(ann);
    const followed = channelIds.map((channelId) => follow(chat, channelId));
    for (const times of [1, 2]) {
      await expect.poll(() => followed.every(({ standings }) => standings.length === times), PATIENCE).toBe(true);
      if (times === 1) sockets.cut();
    }
    expect(states).toEqual(['up', 'down', 'up']);
    expect(sockets.received.filter((text) => text.includes('"error"'))).toEqual([]);
  });

  it('follows a channel that it has just stopped following, whatever is in transit', async () => {
    const channelId = await openChannel(ann);
    const { chat, states } = await open(ann);
    const ended = [];
    // before there is a connection, right after the beginning, and in between
    for (const [ups, standings] of [
      [0, 0],
      [1, 0],
      [1, 1],
    ] as const) {
      await expect.poll(() => states.length, PATIENCE).toBeGreaterThanOrEqual(ups);
      const followed = follow(chat, channelId);
      await expect.poll(() => followed.standings.length, PATIENCE).toBeGreaterThanOrEqual(standings);
      followed.stop();
      ended.push(followed);
    }
    const last = follow(chat, channelId);
    const message = await chat.send({ channelId, content: 'still here' });
    await expect.poll(() => messagesOf(last), PATIENCE).toEqual([message]);
    expect(last.standings).toHaveLength(1);
    expect([...ended, last].flatMap(({ ends }) => ends)).toEqual([]);
    // nothing more comes of what was stopped
    expect(ended.flatMap(messagesOf)).toEqual([]);
  });

  it('reports typing only where the server follows already: a refusal of that is none to follow', async () => {
    const bob = await app.signUp();
    const channelId = await openChannel(ann, [bob]);
    const [{ chat, states }, other] = [await open(ann), await open(bob)];
    const seen = follow(other.chat, channelId);
    await expect.poll(() => [states, seen.standings.length], PATIENCE).toEqual([['up'], 1]);
    expect(chat.typing(channelId)).toBe(false);
    const followed = follow(chat, channelId);
    await chat.send({ channelId, content: 'follows' });
    expect([followed.ends, followed.standings.length]).toEqual([[], 1]);
    expect(chat.typing(channelId)).toBe(true);
    await expect.poll(() => seen.events.at(-1), PATIENCE).toMatchObject({ type: 'typing', identityId: ann.id });
  });

  it('reports what was marked read before the server follows as soon as it does', async () => {
    const bob = await app.signUp();
    const channelId = await openChannel(ann, [bob]);
    const { id } = await app.tandem.services.chat.post({ channelId, senderId: bob.id, content: 'read me' });
    const { chat, sockets } = await open(ann);
    const followed = follow(chat, channelId);
    chat.markRead(channelId, id);
    await expect.poll(() => followed.events.at(-1), PATIENCE).toMatchObject({ type: 'read', messageId: id });
    expect(sockets.sent.filter((frame) => frame.includes('"read"'))).toHaveLength(1);
  });

  it('follows a channel though a message that it has just marked read is gone', async () => {
    const channelId = await openChannel(ann);
    const { chat, states } = await open(ann);
    await expect.poll(() => states, PATIENCE).toEqual(['up']);
    chat.markRead(channelId, randomUUID());
    const followed = follow(chat, channelId);
    await expect.poll(() => [followed.ends.length, followed.standings.length], PATIENCE).toEqual([0, 1]);
  });

  it('renews its tokens by itself, and continues after they have expired', async () => {
    const eve = await app.signUp();
    const channelId = await openChannel(eve);
    const { chat, states } = await open(eve);
    const followed = follow(chat, channelId);
    await expect.poll(() => followed.standings.length, PATIENCE).toBe(1);
    app.clock.advance(EXPIRY_MS);
    await expect.poll(() => states.slice(0, 3), PATIENCE).toEqual(['up', 'down', 'up']);
    expect(await chat.send({ channelId, content: 'x' })).toMatchObject({ seq: 1 });
    ann = await app.signIn(ann.email);
  });

  it('reports the end of the session, and rejects pending messages', async () => {
    const eve = await app.signUp();
    const channelId = await openChannel(eve);
    let signedOut = 0;
    const { chat, states } = await open(eve, { onSignedOut: () => (signedOut += 1) });
    await expect.poll(() => states, PATIENCE).toEqual(['up']);
    await app.tandem.services.identities.endSessions(eve.id);
    await expect.poll(() => states, PATIENCE).toEqual(['up', 'down']);
    await expect(chat.send({ channelId, content: 'x' })).rejects.toThrow('signed out');
    expect(signedOut).toBe(1);
  });

  it('retries when a connection fails', async () => {
    const { sockets, states } = await open(ann, {});
    sockets.cut();
    sockets.failing = 2;
    await expect.poll(() => states.at(-1), PATIENCE).toBe('up');
  });

  it('reports why a message was refused, and that a channel is no longer followed', async () => {
    const bob = await app.signUp();
    const channelId = await openChannel(ann, [bob]);
    const { chat } = await open(bob);
    const followed = follow(chat, channelId);
    await expect.poll(() => followed.standings.length, PATIENCE).toBe(1);
    await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
    await expect.poll(() => followed.ends, PATIENCE).toEqual(['the channel is not followed any more']);
    const refusal = await chat.send({ channelId, content: 'x' }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ message: 'Identity is not subscribed to the channel', code: 'chat.notSubscribed' });
    expect([isError(refusal, 'chat.notSubscribed'), isError(refusal, 'chat.channelNotFound')]).toEqual([true, false]);
    await expect(chat.send({ channelId, content: '' })).rejects.toMatchObject({
      code: 'request.invalid',
      data: ['frame/content must NOT have fewer than 1 characters'],
    });
    const again = follow(chat, channelId);
    await expect.poll(() => again.ends, PATIENCE).toEqual(['Identity is not subscribed to the channel']);
    expect(again.refusals).toMatchObject([{ name: 'TandemError', code: 'chat.notSubscribed' }]);
    expect(followed.refusals).toEqual([undefined]);
  });

  it('resends what is temporarily refused until it is stored, once', async () => {
    await using proxy = await startStoreProxy(app.mongodbUri);
    await using server = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock });
    const channelId = await openChannel(ann);
    const { chat, sockets } = await open(ann, {}, server);
    const followed = follow(chat, channelId);
    await expect.poll(() => followed.standings.length, PATIENCE).toBe(1);
    // one never reaches the store, the other loses its answer
    const cuts = [proxy.cut(isCommand('messages.insert'), 'before'), proxy.cut(isCommand('messages.insert'), 'after')];
    const message = await chat.send({ channelId, content: 'at last' });
    await Promise.all(cuts);
    expect(message).toMatchObject({ content: 'at last', seq: 1 });
    const errors = sockets.received.filter((text) => text.includes('"error"')).map((text) => JSON.parse(text) as object);
    expect(errors).toMatchObject([{ errorCode: 'request.unavailable', retry: true }, { retry: true }]);
    await expect.poll(() => messagesOf(followed), PATIENCE).toEqual([message]);
  });

  it('reports again what was read when the report is temporarily refused', async () => {
    await using proxy = await startStoreProxy(app.mongodbUri);
    await using server = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock });
    const channelId = await openChannel(ann);
    const { chat, sockets } = await open(ann, {}, server);
    const followed = follow(chat, channelId);
    const { id } = await chat.send({ channelId, content: 'read me' });
    await expect.poll(() => messagesOf(followed), PATIENCE).toHaveLength(1);
    const away = { ok: 0, code: 91, codeName: 'ShutdownInProgress', errmsg: 'x' };
    void proxy.answer(isCommand('subscriptions.update'), away, 2);
    chat.markRead(channelId, id);
    await expect.poll(() => sockets.received.some((text) => text.includes('"retry":true')), PATIENCE).toBe(true);
    proxy.clear();
    await expect.poll(() => followed.events.at(-1), PATIENCE).toMatchObject({ type: 'read', messageId: id });
  });

  it('follows a temporarily refused channel as soon as possible', async () => {
    await using proxy = await startStoreProxy(app.mongodbUri);
    await using server = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock });
    const channelId = await openChannel(ann);
    const { chat, states } = await open(ann, {}, server);
    await expect.poll(() => states, PATIENCE).toEqual(['up']);
    const refused = proxy.answer(
      isCommand('subscriptions.find'),
      { ok: 0, code: 91, codeName: 'ShutdownInProgress', errmsg: 'x' },
      3,
    );
    const followed = follow(chat, channelId);
    await refused;
    await expect.poll(() => followed.standings, PATIENCE).toMatchObject([{ lastSeq: 0, unread: 0 }]);
    expect(followed.ends).toEqual([]);
  });
});
