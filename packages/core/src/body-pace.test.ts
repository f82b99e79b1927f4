import { once } from 'node:events';
import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../test/core-server.js';
import { authenticated, createBodyPace, publicProcedure, rest, router } from './index.js';

const LIMIT = 1_000_000;
const PATHS = { rest: '/texts', trpc: '/trpc/texts.count' };

const app = router({
  texts: router({
    count: publicProcedure
      .meta(rest('POST /texts', { status: 200, summary: 'Count', failure: 'Failed to count' }))
      .input(z.strictObject({ text: z.string() }))
      .output(z.object({ length: z.number() }))
      .mutation(({ input }) => ({ length: input.text.length })),
    own: authenticated
      .meta(rest('POST /texts/own', { status: 200, summary: 'Count', failure: 'Failed to count' }))
      .input(z.strictObject({ text: z.string() }))
      .output(z.object({ length: z.number() }))
      .mutation(({ input }) => ({ length: input.text.length })),
  }),
});

let served: CoreServer;
beforeAll(async () => {
  served = await startCoreServer(app, { facts: { bodyTurn: createBodyPace(LIMIT) }, bodyLimit: LIMIT, trpcBodyLimit: LIMIT });
});
afterAll(() => served[Symbol.asyncDispose]());

describe.each(['rest', 'trpc'] as const)('over %s, bodies', (face) => {
  interface Sent {
    localAddress: string;
    text?: string;
    /** Sends no length, so the body may have the largest accepted size. */
    chunked?: boolean;
    compressed?: boolean;
    /** An encoding that it does not have. */
    encoding?: string;
  }
  async function send({
    localAddress,
    text = 'x',
    chunked = false,
    compressed = false,
    encoding,
  }: Sent): Promise<http.IncomingMessage> {
    const plain = JSON.stringify({ text });
    const body = compressed ? gzipSync(plain) : plain;
    const size = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': Buffer.byteLength(body) };
    const headers = { 'content-type': 'application/json', ...size, ...(compressed && { 'content-encoding': 'gzip' }) };
    if (encoding !== undefined) Object.assign(headers, { 'content-encoding': encoding });
    const request = http.request({
      port: new URL(served.url).port,
      host: '127.0.0.1',
      path: PATHS[face],
      method: 'POST',
      localAddress,
      headers,
      agent: false,
    });
    request.on('error', () => {}).end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return response.resume();
  }
  const [sender, other] = face === 'rest' ? ['127.0.0.3', '127.0.0.4'] : ['127.0.0.5', '127.0.0.6'];

  it('that are large wait for earlier ones of their network, and are refused when the wait is too long; all others are read at once', async () => {
    let waiting = 40;
    const large = Array.from({ length: waiting }, () => send({ localAddress: sender, chunked: true }).finally(() => waiting--));
    const refused = Promise.any(
      large.map(async (sent) => ((await sent).statusCode === 429 ? sent : Promise.reject(new Error('taken')))),
    );
    expect(Number((await refused).headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const ofOther = await send({ localAddress: other, text: 'x'.repeat(LIMIT - 100) });
    const small = await send({ localAddress: sender, text: 'x'.repeat(60_000) });
    const tooLarge = await send({ localAddress: sender, text: 'x'.repeat(LIMIT) });
    expect([ofOther.statusCode, small.statusCode, tooLarge.statusCode]).toEqual([200, 200, 413]);
    expect(waiting).toBeGreaterThan(0);
    void Promise.allSettled(large);
  });

  it.runIf(face === 'rest')('that are compressed count as what they may become', async () => {
    const small = { localAddress: '127.0.0.7', compressed: true };
    const [first] = await Promise.all([send(small), send(small)]);
    expect(first.statusCode).toBe(200);
    const large = Array.from({ length: 40 }, () => send({ ...small, text: 'x'.repeat(LIMIT - 100) }));
    const statuses = large.map(async (sent) => ((await sent).statusCode === 429 ? 429 : Promise.reject(new Error('taken'))));
    expect(await Promise.any(statuses)).toBe(429);
    void Promise.allSettled(large);
  });

  it.runIf(face === 'rest')('with an encoding that nobody knows count as the largest', async () => {
    const odd = { localAddress: '127.0.0.8', encoding: 'constructor' };
    const statuses = Array.from({ length: 40 }, async () =>
      (await send(odd)).statusCode === 429 ? 429 : Promise.reject(new Error('taken')),
    );
    expect(await Promise.any(statuses)).toBe(429);
  });
});

it('a large batch needs no account, even where another of its calls is refused', async () => {
  const body = JSON.stringify({ 0: { text: 'x' }, 1: { text: 'x'.repeat(100_000) } });
  const headers = { authorization: 'Bearer nobody', 'content-type': 'application/json' };
  const answer = await fetch(`${served.url}/trpc/texts.own,texts.count?batch=1`, { method: 'POST', headers, body });
  expect(await answer.json()).toMatchObject([
    { error: { data: { httpStatus: 401 } } },
    { result: { data: { length: 100_000 } } },
  ]);
});
