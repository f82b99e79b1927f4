import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';

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
