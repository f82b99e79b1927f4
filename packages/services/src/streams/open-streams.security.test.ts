import { connect, type Socket } from 'node:net';
import { PATIENCE, fixture, openStream, startTestServer, type Person, type TestStream } from '@tandem/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

const PATH = '/notifications/listen';
/** What ends a stream acts within a second; this is for a busy machine too. */
const SOON_MS = 3000;

const app = fixture(() => startTestServer({ code: { heartbeatMs: 300 } }));
const second = fixture(() => startTestServer({ clock: app.clock }));

const listen = (person: Person, server = app) => openStream(server.url, PATH, person.credentials);

async function closing({ closed }: TestStream) {
  const start = performance.now();
  const how = await closed;
  expect(performance.now() - start).toBeLessThan(SOON_MS);
  return how;
}
const REVOKED = { code: 1008, reason: 'the session has ended' };

describe('an open stream is closed on every instance', () => {
  const endings: Record<string, (person: Person) => Promise<unknown>> = {
    'a logout': (ann) => app.rest('POST', '/auth/logout', {}, ann.credentials).expect(204),
    'a lock': async (ann) => (await app.signUpAdmin()).rest('POST', `/identities/${ann.id}/lock`).expect(204),
    'a deletion': async (ann) => (await app.signUpAdmin()).rest('DELETE', `/identities/${ann.id}`).expect(204),
    'another identity type': async (ann) =>
      (await app.signUpAdmin()).rest('PATCH', `/identities/${ann.id}`, { typeId: 'guest' }).expect(200),
    'a deactivation': (ann) => ann.rest('POST', '/auth/deactivate', { identityId: ann.id }).expect(204),
    'an end of all sessions': (ann) => ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204),
  };
  it.each(Object.keys(endings))('by %s, and nobody else’s', async (name) => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const streams = [await listen(ann), await listen(ann, second)];
    await using other = await listen(bob, second);
    await endings[name]?.(ann);
    expect(await Promise.all(streams.map(closing))).toEqual([REVOKED, REVOKED]);
    other.send({ type: 'ping' });
    await other.next('pong');
  });

  it('by the expiry of its access token, also where a ticket opened it', async () => {
    const ann = await app.signUp();
    app.clock.advance(10 * 60_000);
    const { ticket } = await ann.rest('POST', `${PATH}/tickets`, {}).expect<{ ticket: string }>(201);
    const streams = [await listen(ann), await openStream(second.url, `${PATH}?ticket=${ticket}`)];
    app.clock.advance(5 * 60_000);
    const expired = { code: 4401, reason: 'the access token has expired' };
    expect(await Promise.all(streams.map(closing))).toEqual([expired, expired]);
  });

  it('by a restart, so that clients come back', async () => {
    const restarting = await startTestServer({ clock: app.clock });
    const stream = await listen(await app.signUp(), restarting);
    await restarting.close();
    expect(await stream.closed).toEqual({ code: 1012, reason: 'the server restarts' });
  });
});

describe('frames', () => {
  it('of every kind leave the process, the stream and all others as they were', async () => {
    // an instance that drops nobody for a missing sign of life: the process is busy
    await using other = await listen(await app.signUp(), second);
    const frames = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc
        .record({ type: fc.constantFrom('ping', 'subscribe', 'message.create', '__proto__') })
        .map((frame) => JSON.stringify(frame)),
      fc.uint8Array({ maxLength: 300 }),
    );
    const before = process.memoryUsage().heapUsed;
    const given = fc.sample(frames, 10_000);
    // a client may send fifty a second: each stream takes that many
    const people = await Promise.all(Array.from({ length: 20 }, () => app.signUp()));
    for (let at = 0; at < given.length; at += 1000) {
      const streams = await Promise.all(people.map((person) => listen(person, second)));
      for (const [n, { socket }] of streams.entries())
        for (const frame of given.slice(at + 50 * n, at + 50 * (n + 1))) socket.send(frame);
      const answers = () =>
        streams.map((stream) => stream.frames.filter(({ type }) => type === 'error' || type === 'pong').length);
      await expect.poll(answers, PATIENCE).toEqual(streams.map(() => 50));
      await Promise.all(streams.map((stream) => stream.close()));
    }
    globalThis.gc?.();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
    other.send({ type: 'ping' });
    await other.next('pong');
    expect(other.frames.map(({ type }) => type)).toEqual(['ready', 'pong']);
  }, 60_000);

  it('beyond fifty a second are refused, and a flood closes the stream', async () => {
    await using stream = await listen(await app.signUp());
    for (let n = 0; n < 500; n++) stream.send({ type: 'ping' });
    expect(await stream.closed).toEqual({ code: 1008, reason: 'too many frames' });
    expect(stream.frames).toContainEqual({
      type: 'error',
      message: 'Too many requests',
      errorCode: 'request.tooMany',
      retry: true,
    });
  });

  it('of more than 64 KiB, of broken text, and against the protocol close the stream', async () => {
    const ann = await app.signUp();
    const big = await listen(ann);
    big.send(`"${'a'.repeat(64 * 1024)}"`);
    expect((await big.closed).code).toBe(1009);
    const broken = await listen(ann);
    broken.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect((await broken.closed).code).toBe(1007);
    const wrong = await listen(ann);
    // a client's frames are masked, and this one is not
    (wrong.socket as WebSocket & { _socket: Socket })._socket.write(Buffer.from([0x81, 0x01, 0x61]));
    expect((await wrong.closed).code).toBe(1002);
  });
});

describe('a reader', () => {
  it('that reads nothing is closed when a mebibyte waits for it, and delays no other', async () => {
    const ann = await app.signUp();
    // an instance that drops nobody for a missing sign of life, so that only what waits can end the stream
    const [slow, quick] = [await listen(ann, second), await listen(ann, second)];
    const { _socket: connection } = slow.socket as WebSocket & { _socket: Socket };
    connection.pause();
    const text = 'x'.repeat(100_000);
    let slowest = 0;
    for (let n = 0; n < 150; n++) {
      const start = performance.now();
      await second.tandem.services.notifications.notify(ann.id, { text });
      await quick.next('notification.created');
      slowest = Math.max(slowest, performance.now() - start);
    }
    expect(slowest).toBeLessThan(SOON_MS);
    connection.resume();
    const { code } = await slow.closed;
    // its connection is cut when it has not even read that it is closed
    expect([1013, 1006]).toContain(code);
    const told = slow.frames.filter(({ type }) => type === 'notification.created').length;
    expect(told).toBeLessThan(150);
    await quick.close();
  });

  it('that misses a heartbeat is dropped', async () => {
    const { hostname, port } = new URL(app.url);
    const ann = await app.signUp();
    const dead = connect(Number(port), hostname);
    dead.write(
      `GET ${PATH} HTTP/1.1\r\nhost: ${hostname}\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
        `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${ann.accessToken}\r\n\r\n`,
    );
    let answer = '';
    dead.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    await new Promise((resolve) => dead.once('close', resolve));
    expect(answer).toContain('HTTP/1.1 101 ');
  });

  it('that answers stays connected', async () => {
    await using stream = await listen(await app.signUp());
    for (let beat = 0; beat < 4; beat++) await new Promise((resolve) => stream.socket.once('ping', resolve));
    stream.send({ type: 'ping' });
    expect(await stream.next('pong')).toEqual({ type: 'pong' });
  });
});

it('a connection that breaks during the handshake affects no other', async () => {
  const { hostname, port } = new URL(app.url);
  const ann = await app.signUp();
  for (let n = 0; n < 50; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `GET ${PATH} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n` +
        `sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${ann.accessToken}\r\n\r\n`,
      () => socket.resetAndDestroy(),
    );
    await new Promise((resolve) => socket.once('close', resolve));
  }
  await using stream = await listen(ann);
  expect(await stream.next('ready')).toEqual({ type: 'ready', unread: 0 });
});
