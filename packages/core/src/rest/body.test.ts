import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { declaredError } from '../answer.js';
import { createBodyReader } from './body.js';

const LIMIT = 100;
const TEXT = '{"text":"né"}';
const JSON_TYPE = { 'content-type': 'application/json' };

/** What was read of each request, or the refusal, in order. */
const read: Promise<unknown>[] = [];
const server = http.createServer();
beforeAll(async () => {
  const app = express();
  app.use('/parsed', express.json());
  app.use('/late', (req, _, next) => void req.once('close', () => next()));
  const readBody = createBodyReader(LIMIT);
  app.use((req, res) => {
    const reading = readBody(req, res).catch((error: unknown) => [declaredError(error)?.status, declaredError(error)?.data]);
    read.push(reading);
    void reading.then((body) => res.json([body]));
  });
  server.on('request', app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function open(headers: http.OutgoingHttpHeaders, path = '/'): http.ClientRequest {
  const { port } = server.address() as AddressInfo;
  return http.request({ port, host: '127.0.0.1', path, method: 'POST', headers });
}

async function send(headers: http.OutgoingHttpHeaders, parts: Buffer[], path?: string): Promise<unknown> {
  const length = headers['transfer-encoding'] ? {} : { 'content-length': Buffer.concat(parts).length };
  const request = open({ ...headers, ...length }, path);
  request.flushHeaders();
  for (const part of parts) await new Promise((sent) => request.write(part, sent));
  request.end();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const [body] = JSON.parse((await response.toArray()).join('')) as unknown[];
  return body;
}

const utf8 = Buffer.from(TEXT);
const type = (text: string) => ({ 'content-type': text });
it.each<[name: string, headers: http.OutgoingHttpHeaders, parts: Buffer[], path?: string]>([
  ['in one piece', JSON_TYPE, [utf8]],
  ['in two, cut inside a letter', JSON_TYPE, [utf8.subarray(0, 11), utf8.subarray(11)]],
  ['in chunks', { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, [utf8.subarray(0, 5), utf8.subarray(5)]],
  ['after a byte order mark', JSON_TYPE, [Buffer.from(`\ufeff${TEXT}`)]],
  ['of a named encoding', type('application/json;charset=UTF-8'), [utf8]],
  ['of another encoding', type('application/json; charset=utf-16le'), [Buffer.from(TEXT, 'utf16le')]],
  ['of a type that is JSON too', type('application/merge-patch+json'), [utf8]],
  ['that is compressed', { ...JSON_TYPE, 'content-encoding': 'gzip' }, [gzipSync(utf8)]],
  ['that a parser of the host has read', JSON_TYPE, [utf8], '/parsed'],
])('reads a body %s', async (_, headers, parts, path) => {
  expect(await send(headers, parts, path)).toEqual({ text: 'né' });
});

const invalid = ['request body must be valid JSON'];
it.each<[name: string, headers: http.OutgoingHttpHeaders, body: Buffer, refusal: unknown[]]>([
  ['that is no JSON', JSON_TYPE, Buffer.from('{"text"'), [400, invalid]],
  ['of spaces', JSON_TYPE, Buffer.from('  '), [400, invalid]],
  ['that is too large', JSON_TYPE, Buffer.from(JSON.stringify('x'.repeat(LIMIT - 1))), [413, null]],
  ['that is too large when it is not compressed', { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(JSON.stringify('x'.repeat(LIMIT))), [413, null]],
  ['that is not what it says', { ...JSON_TYPE, 'content-encoding': 'gzip' }, utf8, [400, ['request body must be complete and correctly encoded']]],
  ['that is no Brotli', { ...JSON_TYPE, 'content-encoding': 'br' }, utf8, [400, ['request body must be complete and correctly encoded']]],
  ['of an encoding that JSON has not', type('application/json; charset=latin1'), utf8, [415, null]],
])('refuses a body %s', async (_, headers, body, refusal) => {
  expect(await send(headers, [body])).toEqual(refusal);
}); // prettier-ignore

it('reads a body as large as allowed', async () => {
  const text = 'x'.repeat(LIMIT - 2);
  expect(await send(JSON_TYPE, [Buffer.from(JSON.stringify(text))])).toBe(text);
});

it('waits no longer for a body that breaks off', async () => {
  const request = open({ ...JSON_TYPE, 'content-length': 50 });
  request.on('error', () => {});
  const before = read.length;
  const arrived = once(server, 'request');
  request.write('{');
  await arrived;
  request.destroy();
  expect(await read[before]).toEqual([400, ['request body must be complete and correctly encoded']]);
});

it('refuses a body whose caller left before it was read', async () => {
  const request = open({ ...JSON_TYPE, 'content-length': 2 }, '/late');
  request.on('error', () => {});
  const before = read.length;
  const arrived = once(server, 'request');
  request.end('{}');
  const [req] = (await arrived) as [http.IncomingMessage];
  const closed = new Promise((resolve) => req.once('close', resolve));
  request.destroy();
  await closed;
  expect(await read[before]).toEqual([400, ['request body must be complete and correctly encoded']]);
});
