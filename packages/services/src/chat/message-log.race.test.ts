import { newId } from '@tandem/storage';
import { startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SentMessage } from './chat-events.js';
import { subscriptionModel } from './subscription.model.js';

let servers: [TestServer, TestServer];
beforeAll(async () => {
  const app = await startTestServer();
  servers = [app, await startTestServer({ clock: app.clock })];
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

const chatOf = (server: TestServer) => server.tandem.services.chat;

/** A channel with one member, who writes and reads on either server. */
async function open() {
  const [{ storage }] = servers;
  const [channelId, senderId] = [newId(), newId()];
  await storage.model(subscriptionModel).create({ channelId, subscribedId: senderId });
  const post = (server: TestServer, content: string, clientId?: string) =>
    chatOf(server).post({ channelId, senderId, content, clientId });
  return { channelId, senderId, post };
}

async function readAll(channelId: string): Promise<SentMessage[]> {
  return (await chatOf(servers[0]).messagesSince(channelId, 0, 100)).posts.map(({ message }) => message);
}

it('20 messages at once on two servers get the numbers from 1 to 20, each one', async () => {
  const { channelId, post } = await open();
  const posted = await Promise.all(Array.from({ length: 20 }, (_, n) => post(servers[n % 2] as TestServer, `${n}`)));
  const numbers = posted.map(({ seq }) => seq).toSorted((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  const read = await readAll(channelId);
  expect(read).toEqual(posted.toSorted((one, other) => one.seq - other.seq));
  expect(await chatOf(servers[1]).messagesSince(channelId, 15, 3)).toMatchObject({
    posts: read.slice(15, 18).map((message) => ({ message })),
    next: 18,
  });
});

it('a message that a client sends 20 times at once on two servers is stored once, and every answer is the same', async () => {
  const { channelId, post } = await open();
  const posted = await Promise.all(
    Array.from({ length: 20 }, (_, n) => post(servers[n % 2] as TestServer, 'again', n % 4 === 3 ? undefined : 'mine')),
  );
  const mine = posted.filter(({ clientId }) => clientId === 'mine');
  expect(new Set(mine.map(({ id }) => id)).size).toBe(1);
  const read = await readAll(channelId);
  expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
});

it('a reader never finds a number below one that it has seen, while two servers write', async () => {
  const { channelId, senderId, post } = await open();
  const [writer, other] = servers;
  const writing = Promise.all(
    servers.map(async (server) => {
      for (let n = 0; n < 30; n++) await Promise.all(Array.from({ length: 1 + (n % 4) }, () => post(server, 'x')));
    }),
  );
  const seen: number[] = [];
  const readOn = async () => {
    const { posts } = await chatOf(other).messagesSince(channelId, seen.at(-1) ?? 0, 7);
    seen.push(...posts.map(({ message }) => message.seq));
  };
  do await readOn();
  while (seen.length < 2 * 73);
  await writing;
  expect(seen).toEqual(seen.map((_, at) => at + 1));
  expect(await chatOf(writer).membershipOf(senderId, channelId)).toMatchObject({ lastSeq: 146, readSeq: 0, unread: 146 });
});

it('a server that always has more to write lets another one write too', async () => {
  const { channelId, senderId, post } = await open();
  const [busy, other] = servers;
  const done = new AbortController();
  const writers = Array.from({ length: 150 }, async () => {
    while (!done.signal.aborted) await post(busy, 'more');
  });
  const waits: number[] = [];
  for (let n = 0; n < 10; n++) {
    const { lastSeq } = await chatOf(other).membershipOf(senderId, channelId);
    waits.push((await post(other, 'mine')).seq - lastSeq);
  }
  done.abort();
  await Promise.all(writers);
  // a few batches of the busy one; more where both have little of the processor
  expect(Math.max(...waits)).toBeLessThan(5000);
});
