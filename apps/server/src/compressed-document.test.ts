import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fixture, startTestServer } from '@tandem/testing';
import express from 'express';
import { expect, it } from 'vitest';
import { createDocumentRoute } from './compressed-document.js';

const app = fixture(startTestServer);

/** The bytes as sent: fetch would decompress them. */
function get(headers: Record<string, string>, path = '/openapi.json') {
  return new Promise<{ status?: number | undefined; headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
    const request = http.get(app.url + path, { headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(chunks) }));
    });
    request.on('error', reject);
  });
}

it.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['gzip, br;q=0', 'gzip'],
  ['identity', undefined],
  ['', undefined],
])('the document is sent to a client that accepts "%s" as %s', async (accepted, encoding) => {
  const { status, headers, bytes } = await get({ 'accept-encoding': accepted });
  expect([status, headers['content-encoding'], headers['vary']]).toEqual([200, encoding, 'Accept-Encoding']);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Number(headers['content-length'])).toBe(bytes.length);
  const plain = encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes;
  expect(JSON.parse(plain.toString())).toMatchObject({ openapi: '3.1.0' });
});

it('what caches tell documents apart by names the origin too, where pages of several may read them', async () => {
  await using server = await startTestServer({ corsOrigins: ['https://a.example.org', 'https://b.example.org'] });
  const { headers } = await fetch(`${server.url}/openapi.json`, { headers: { origin: 'https://a.example.org' } });
  expect(headers.get('vary')).toBe('Origin, Accept-Encoding');
});

it('the document is not sent again to a client that has it', async () => {
  const accepting = { 'accept-encoding': 'gzip' };
  const { etag } = (await get(accepting)).headers as { etag: string };
  const again = await get({ ...accepting, 'if-none-match': etag });
  expect([again.status, again.bytes.length, again.headers['etag']]).toEqual([304, 0, etag]);
  expect((await get({ 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(200);
  expect((await get({ ...accepting, 'if-none-match': '"another"' })).status).toBe(200);
});

it('the document of the streams is sent likewise', async () => {
  const { headers, bytes } = await get({ 'accept-encoding': 'br' }, '/asyncapi.json');
  expect(JSON.parse(brotliDecompressSync(bytes).toString())).toMatchObject({ asyncapi: '3.0.0' });
  const again = await get({ 'accept-encoding': 'br', 'if-none-match': headers['etag'] as string }, '/asyncapi.json');
  expect(again.status).toBe(304);
});

it('a document is made once, however many ask for it first, and again after a failure', async () => {
  const [arrivals, all] = [new EventEmitter(), 20];
  let [asked, times] = [0, 0];
  const make = async () => {
    if (++times === 1) throw new Error('not this time');
    if (asked <= all) await once(arrivals, 'all');
    return { times };
  };
  const refuse: express.ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).end();
  const count: express.RequestHandler = (_req, _res, next) => {
    next();
    if (++asked === 1 + all) arrivals.emit('all');
  };
  const server = express().use(count, createDocumentRoute(make), refuse).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async () => (await fetch(`http://127.0.0.1:${port}`)).status;
  expect(await ask()).toBe(500);
  expect(await Promise.all(Array.from({ length: all }, ask))).toEqual(Array.from({ length: all }, () => 200));
  expect(times).toBe(2);
  server.close();
});
