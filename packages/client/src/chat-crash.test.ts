import {
  HAS_REDIS,
  startRedis,
  startServerProcess,
  startTestServer,
  type Person,
  type RedisServer,
  type ServerProcess,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from '../test/clients.js';
import { createChatClient, type ChatClient, type SentMessage } from './index.js';

const CLIENTS = 50;
const MESSAGES = 5000;
/** Interval between drops of a connection, in milliseconds. */
const DROP_MS = 100;
/** Long enough for a machine that is busy with other tests. */
const PATIENCE = { timeout: 180_000, interval: 100 };

let redis: RedisServer;
let app: TestServer;
let servers: ServerProcess[] = [];
let people: Person[];
beforeAll(async () => {
  if (!HAS_REDIS) return;
  [redis, app] = [await startRedis(), await startTestServer()];
  servers = await Promise.all([1, 2, 3].map(() => start()));
  people = await Promise.all(Array.from({ length: CLIENTS }, () => app.signUp()));
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await app?.close();
  await redis?.close();
});

const start = () => startServerProcess({ MONGODB_URI: app.mongodbUri, REDIS_URL: redis.url, LOG_LEVEL: 'info' });
const anyOf = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

interface Reading {
  chat: ChatClient;
  messages: SentMessage[];
  drop(): void;
}

/** A client that reconnects to any of the servers. */
async function open({ id: identityId, accessToken, refreshToken }: Person, channelId: string): Promise<Reading> {
  let current: WebSocket | undefined;
  class Balanced extends WebSocket {
    constructor(address: string) {
      super(address.replace(/^ws:\/\/[^/]+/, anyOf(servers).url.replace('http', 'ws')));
      // oxlint-disable-next-line typescript/no-this-alias -- the newest is the one to drop
      current = this;
    }
  }
  const { client, tokens } = createClient(app);
  await tokens.save({ identityId, accessToken, refreshToken });
  const messages: SentMessage[] = [];
  const chat = createChatClient({ url: app.url, client, WebSocket: Balanced });
  await new Promise<void>((resolve) => {
    chat.follow(channelId, {
      onEvent: (event) => void (event.type === 'message.created' && messages.push(event.message)),
      onSubscribed: () => resolve(),
    });
  });
  return { chat, messages, drop: () => current?.terminate() };
}

describe.skipIf(!HAS_REDIS)('three servers over one store and one Redis (skipped where there is no redis-server)', () => {
  it('leave every client with the same messages, whichever drops, dies or restarts', { timeout: 600_000 }, async () => {
    const [owner, ...others] = people as [Person, ...Person[]];
    const { id: channelId } = await owner
      .rest('POST', '/channels', { name: 'Tea', ownerId: owner.id })
      .expect<{ id: string }>(201);
    await Promise.all(
      others.map(({ id: subscribedId }) => owner.rest('POST', '/subscriptions', { channelId, subscribedId }).expect(201)),
    );
    const readings = await Promise.all(people.map((person) => open(person, channelId)));
    const dropping = setInterval(() => anyOf(readings).drop(), DROP_MS);

    let stored = 0;
    const sendings = readings.flatMap(({ chat }, reader) =>
      Array.from({ length: MESSAGES / CLIENTS }, async (_, n) => {
        await chat.send({ channelId, content: `${reader} ${n}` });
        stored += 1;
      }),
    );
    await expect.poll(() => stored, PATIENCE).toBeGreaterThan(MESSAGES / 5);
    await servers.shift()?.kill();
    await expect.poll(() => stored, PATIENCE).toBeGreaterThan((2 * MESSAGES) / 5);
    await redis.stop();
    await expect.poll(() => stored, PATIENCE).toBeGreaterThan((3 * MESSAGES) / 5);
    await redis.start();
    servers.push(await start());
    await Promise.all(sendings);
    clearInterval(dropping);

    const seqs = Array.from({ length: MESSAGES }, (_, n) => n + 1);
    await expect.poll(() => readings.map(({ messages }) => messages.length), PATIENCE).toEqual(readings.map(() => MESSAGES));
    const idsOf = ({ messages }: Reading) => messages.map(({ id }) => id);
    for (const reading of readings) {
      expect(reading.messages.map(({ seq }) => seq)).toEqual(seqs);
      expect(idsOf(reading)).toEqual(idsOf(readings[0] as Reading));
    }
    expect(new Set(readings[0]?.messages.map(({ content }) => content)).size).toBe(MESSAGES);
    for (const { chat } of readings) chat.close();
  });
});
