import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { limitArrival } from './outside-express.js';

const LIMIT_MS = 15_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** A request that has begun. The server answers when `answer` is called. */
async function begin(head: string) {
  const server = http.createServer().listen(0, '127.0.0.1');
  onTestFinished(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  client.on('data', (chunk) => (text += chunk.toString()));
  client.on('error', () => undefined);
  const closed = once(client, 'close').then(() => text);
  client.write(`${head}\r\nhost: x\r\nconnection: close\r\n\r\n`);
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  limitArrival(req, res, LIMIT_MS);
  return { client, req, res, closed };
}
const POST = 'POST /auth/login HTTP/1.1\r\ncontent-length: 2';

it.each([
  ['a length', POST],
  ['no length', 'POST /auth/login HTTP/1.1\r\ntransfer-encoding: chunked'],
])('a body of %s that has not arrived in time is 408', async (_, head) => {
  const { req, closed } = await begin(head);
  req.resume();
  await once(req, 'resume');
  vi.advanceTimersByTime(LIMIT_MS);
  expect(await closed).toMatch(/^HTTP\/1.1 408 /);
});

it('a body that the server begins to read late has as long as any other', async () => {
  const { client, req, res, closed } = await begin(POST);
  vi.advanceTimersByTime(LIMIT_MS);
  req.resume();
  await once(req, 'resume');
  vi.advanceTimersByTime(LIMIT_MS - 1);
  client.write('{}');
  await once(req, 'end');
  res.end();
  expect(await closed).toMatch(/^HTTP\/1.1 200 /);
});

it('a file has as long as it takes', async () => {
  const { client, req, res, closed } = await begin('PUT /files/a HTTP/1.1\r\ncontent-length: 2');
  vi.advanceTimersByTime(LIMIT_MS);
  client.write('{}');
  req.resume().once('end', () => res.end());
  expect(await closed).toMatch(/^HTTP\/1.1 200 /);
});

it('a request that has arrived has as long as its answer takes', async () => {
  const { client, req, res, closed } = await begin(POST);
  client.write('{}');
  await once(req.resume(), 'end');
  vi.advanceTimersByTime(LIMIT_MS);
  res.end();
  expect(await closed).toMatch(/^HTTP\/1.1 200 /);
});

it('no time is kept for a request without a body, or after the answer', async () => {
  const { res, closed } = await begin('GET / HTTP/1.1\r\ncontent-length: 0');
  expect(vi.getTimerCount()).toBe(0);
  res.end();
  await closed;
  const answered = await begin(POST);
  expect(vi.getTimerCount()).toBe(1);
  answered.res.end();
  await answered.closed;
  await vi.waitUntil(() => vi.getTimerCount() === 0);
});

it('an answer that has begun is cut off, without a second one in it', async () => {
  const { res, closed } = await begin(POST);
  res.write('begun');
  await vi.waitUntil(() => res.writableLength === 0);
  vi.advanceTimersByTime(LIMIT_MS);
  const text = await closed;
  expect(text).not.toContain('408');
});
