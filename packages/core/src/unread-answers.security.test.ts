import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../test/core-server.js';
import { limitUnread, publicProcedure, rest, router } from './index.js';

/** More than the operating system buffers on both sides of a connection. */
const LENGTH = 40_000_000;

const app = router({
  texts: router({
    get: publicProcedure
      .meta(rest('GET /text', { status: 200, summary: 'Get', failure: 'Failed to get' }))
      .output(z.object({ text: z.string() }))
      .query(() => ({ text: 'x'.repeat(LENGTH) })),
    half: publicProcedure
      .meta(rest('GET /half', { status: 200, summary: 'Get half', failure: 'Failed to get' }))
      .output(z.object({ text: z.string() }))
      .query(() => ({ text: 'x'.repeat(LENGTH / 2) })),
  }),
});
const start = (unreadBy?: Map<string, number>) =>
  startCoreServer(app, { prepare: (host) => void host.use(limitUnread(unreadBy)) });

const sockets: net.Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A raw connection that reads nothing. */
function connect(url: string): net.Socket {
  const socket = net.connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: '127.0.0.2' }).pause();
  sockets.push(socket);
  return socket.on('error', () => {});
}

async function read(url: string, localAddress: string): Promise<number> {
  const request = http.get(`${url}/text`, { localAddress, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let length = 0;
  for await (const chunk of response) length += (chunk as Buffer).length;
  return length;
}

it('a client that leaves answers unread gets no more until they are read or given up, while others get theirs', async () => {
  await using server = await start();
  const unread = connect(server.url);
  unread.write('GET /text HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(unread, 'readable');
  await expect(read(server.url, '127.0.0.2')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(await read(server.url, '127.0.0.3')).toBeGreaterThan(LENGTH);
  unread.destroy();
  await expect.poll(() => read(server.url, '127.0.0.2').catch(() => 0)).toBeGreaterThan(LENGTH);
});

it('unread answers of one address count together, and nothing is kept of clients that have read all', async () => {
  const unreadBy = new Map<string, number>();
  await using server = await start(unreadBy);
  const unread = [connect(server.url), connect(server.url)];
  for (const socket of unread) {
    socket.write('GET /half HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'readable');
  }
  await read(server.url, '127.0.0.3');
  const halves = () => [...unreadBy].map(([address, bytes]) => `${address} ${Math.round(bytes / (LENGTH / 2))}`);
  await expect.poll(halves).toEqual(['127.0.0.2 2']);
  unread[0]?.destroy();
  await expect.poll(halves).toEqual(['127.0.0.2 1']);
  unread[1]?.destroy();
  await expect.poll(halves).toEqual([]);
});

it.each([
  [4, 4],
  [5, 0],
])('of a connection that sends %i requests before it has an answer, %i are answered', async (sent, answered) => {
  await using server = await start();
  const socket = connect(server.url);
  const heads: string[] = [];
  socket.on('data', (chunk) => heads.push(...(chunk.toString().match(/HTTP\/1\.1 404/g) ?? [])));
  socket.resume().end('GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(sent));
  await once(socket, 'close');
  expect(heads).toHaveLength(answered);
});

it('of a connection that waits for each answer, any number of requests are answered', async () => {
  await using server = await start();
  const socket = connect(server.url).resume();
  for (let n = 0; n < 9; n++) {
    socket.write('GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404/);
  }
});
