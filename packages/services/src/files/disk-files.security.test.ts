import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import type { ApiError } from '@tandem/core';
import { fixture, makeFolder, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { fileModel } from './file.model.js';

const ME = crypto.randomUUID();
const NOT_ALLOWED = { error: { message: 'Invalid or expired file address' } };

const folder = fixture(makeFolder);
const app = fixture(() => startTestServer({ dataDir: folder.path }));
const notes = fixture(() => app.tandem.services.files.attachments({ purpose: 'note' }));

const put = (url: string, body: string, type: string) =>
  fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: Buffer.from(body) });
async function stored(type: string, body: string): Promise<string> {
  const { objectId, url } = await notes.issue({ contentType: type, contentLength: Buffer.byteLength(body) }, ME);
  expect((await put(url, body, type)).status).toBe(200);
  return (await notes.attach(crypto.randomUUID(), { objectId, type }, ME)).url;
}
const changed = (url: string, change: (url: URL) => void) => {
  const other = new URL(url);
  change(other);
  return other.href;
};

describe('an address of a file', () => {
  it('is refused if any part of it was changed, left out or repeated', async () => {
    const { url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    const other = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    const changes: ((address: URL) => void)[] = [
      (address) => void (address.pathname = new URL(other.url).pathname),
      (address) => address.searchParams.set('type', 'text/html'),
      (address) => address.searchParams.set('size', '3'),
      (address) => address.searchParams.set('size', '2.0'),
      (address) => address.searchParams.set('expires', String(Date.now() + 3_600_000)),
      (address) => address.searchParams.set('expires', '9e15'),
      (address) => address.searchParams.set('signature', 'A'.repeat(43)),
      (address) => address.searchParams.set('signature', ''),
      (address) => address.searchParams.append('type', 'text/html'),
      ...['type', 'size', 'expires', 'signature'].map((name) => (address: URL) => address.searchParams.delete(name)),
    ];
    for (const change of changes) {
      const answer = await put(changed(url, change), 'hi', 'text/plain');
      expect([answer.status, await answer.json()]).toEqual([403, NOT_ALLOWED]);
    }
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
  });

  it('takes only the type that it was issued for, and names it in the refusal', async () => {
    const { url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    const refused = await put(url, '{}', 'application/json');
    expect([refused.status, refused.headers.get('accept')]).toEqual([415, 'text/plain']);
  });

  it('allows one action: an upload address downloads nothing, a download address uploads nothing', async () => {
    const { url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
    expect((await fetch(url)).status).toBe(403);
    const download = await stored('text/plain', 'hi');
    expect((await put(download, 'no', 'text/plain')).status).toBe(403);
    expect(await (await fetch(download)).text()).toBe('hi');
  });

  it.each([
    '/files/..%2f..%2fsecrets.json',
    '/files/../secrets.json',
    '/files/%2e%2e',
    '/files/incoming',
    '/files/..%5c..%5csecrets.json',
    `/files/${ME}%00`,
  ])('leads nowhere else: %s', async (target) => {
    const url = await stored('text/plain', 'hi');
    const { hostname, port, search } = new URL(url);
    const socket = net.connect(Number(port), hostname);
    socket.write(`GET ${target}${search} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 40[034] /);
  });
});

describe('a stored file', () => {
  it.each(['image/svg+xml', 'video/x+xml', 'text/html', 'application/xhtml+xml', 'text/xml', 'application/pdf', 'text/plain'])(
    'of the type %s is never shown in place, and can do nothing',
    async (type) => {
      const { headers, status } = await fetch(await stored(type, '<script>alert(1)</script>'));
      expect(status).toBe(200);
      expect(headers.get('content-disposition')).toBe('attachment');
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    },
  );

  it('is sent in part when a range is requested', async () => {
    const url = await stored('text/plain', 'one two three');
    const part = await fetch(url, { headers: { range: 'bytes=4-6' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([206, 'two', 'bytes 4-6/13']);
    const beyond = await fetch(url, { headers: { range: 'bytes=99-' } });
    const conditional = await fetch(url, { headers: { 'if-match': '*' } });
    expect([conditional.status, await conditional.json()]).toEqual([412, { error: { message: 'Precondition Failed' } }]);
    expect([beyond.status, await beyond.json(), beyond.headers.get('content-range')]).toEqual([
      416,
      { error: { message: 'Range Not Satisfiable' } },
      'bytes */13',
    ]);
    const { status, headers } = await fetch(url, { method: 'HEAD' });
    expect([status, headers.get('content-length')]).toEqual([200, '13']);
  });

  it('that is missing is 404', async () => {
    const { objectId, url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
    const { url: download } = await notes.attach(crypto.randomUUID(), { objectId, type: 'text/plain' }, ME);
    const { storedAs } = await app.storage.model(fileModel).findOne({ objectId }).orFail();
    await rm(path.join(folder.path, 'files', String(storedAs).slice(-2), String(storedAs)));
    const answer = await fetch(download);
    expect([answer.status, await answer.json()]).toEqual([404, { error: { message: 'File not found' } }]);
  });
});

describe('an upload', () => {
  const send = async (url: string, head: string, ...chunks: string[]) => {
    const { hostname, port, pathname, search } = new URL(url);
    const socket = net.connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => {});
    socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: text/plain\r\n${head}\r\n\r\n`);
    for (const chunk of chunks) socket.write(chunk);
    return { socket, answered: once(socket, 'close').then(() => answer) };
  };
  const incoming = () => readdir(path.join(folder.path, 'files', 'incoming'));

  it('that hides its size is read no further than allowed, and leaves nothing', async () => {
    const { url, objectId } = await notes.issue({ contentType: 'text/plain', contentLength: 5 }, ME);
    const chunk = `${(1000).toString(16)}\r\n${'x'.repeat(1000)}\r\n`;
    const { answered } = await send(url, 'transfer-encoding: chunked\r\nconnection: close', chunk, '0\r\n\r\n');
    expect(await answered).toMatch(/^HTTP\/1\.1 413 /);
    const { url: short } = await notes.issue({ contentType: 'text/plain', contentLength: 5 }, ME);
    const small = await send(short, 'transfer-encoding: chunked\r\nconnection: close', '1\r\nx\r\n0\r\n\r\n');
    expect(await small.answered).toMatch(/^HTTP\/1\.1 400 /);
    await expect(notes.attach(crypto.randomUUID(), { objectId, type: 'text/plain' }, ME)).rejects.toThrow(
      'File has not been uploaded',
    );
    expect(await incoming()).toEqual([]);
  });

  it('that is aborted leaves nothing, and is no failure of the server', async () => {
    const { url, objectId } = await notes.issue({ contentType: 'text/plain', contentLength: 5 }, ME);
    const { socket, answered } = await send(url, 'content-length: 5', 'xx');
    await expect.poll(incoming).toHaveLength(1);
    socket.destroy();
    await answered;
    await expect.poll(incoming).toEqual([]);
    await expect(notes.attach(crypto.randomUUID(), { objectId, type: 'text/plain' }, ME)).rejects.toThrow(
      'File has not been uploaded',
    );
    expect(app.logs()).not.toContain('unexpected failure');
  });

  it('of a process that died goes after an hour, whatever younger ones were there at the first upload', async () => {
    const { url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
    const left = path.join(folder.path, 'files', 'incoming', crypto.randomUUID());
    await writeFile(left, 'x');
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
    expect(await incoming()).toHaveLength(1);
    // the system's clock tells a file's age
    const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60_000);
    await utimes(left, twoHoursAgo, twoHoursAgo);
    app.clock.advance(60 * 60_000);
    const later = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    expect((await put(later.url, 'hi', 'text/plain')).status).toBe(200);
    expect(await incoming()).toEqual([]);
  });

  it('may be repeated, as after a lost answer, and its address appears in no log line', async () => {
    const { url } = await notes.issue({ contentType: 'text/plain', contentLength: 2 }, ME);
    expect((await put(url, 'hi', 'text/plain')).status).toBe(200);
    expect((await put(url, 'ho', 'text/plain')).status).toBe(200);
    expect(app.logs()).not.toContain(new URL(url).searchParams.get('signature'));
    expect(app.logs()).toContain('/files/:objectId');
  });
});

it('an identity with two hundred unused addresses gets no more', async () => {
  const somebody = crypto.randomUUID();
  const issue = () => notes.issue({ contentType: 'text/plain', contentLength: 1 }, somebody);
  for (let at = 0; at < 200; at++) await issue();
  app.clock.advance(60 * 60_000);
  // the first of them no longer counts after a day
  const refused = (await issue().catch((error: unknown) => error)) as ApiError;
  expect(refused.message).toBe('Too many requests');
  expect(Math.round((refused.retryAfter ?? 0) / 60)).toBe(23 * 60);
});
