import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { PATIENCE } from '@tandem/testing';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createConnection } from './stream-connection.js';

// tests control the client's time; sockets are real
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server that accepts streams. @returns its URL, and its open sockets */
async function startStreams() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  const sockets: WebSocket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('close', () => sockets.splice(sockets.indexOf(socket), 1));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

/** A connection that records its events. */
function connect(url: string, path: (signal: AbortSignal) => Promise<string> = () => Promise.resolve('/')) {
  const seen = { asked: 0, opened: 0, openedAt: 0, frames: 0, down: 0, downAt: 0 };
  const connection = createConnection({
    url,
    path(signal) {
      seen.asked += 1;
      return path(signal);
    },
    WebSocket,
    onOpen() {
      seen.opened += 1;
      seen.openedAt = Date.now();
    },
    onFrame: () => void (seen.frames += 1),
    onDown() {
      seen.down += 1;
      seen.downAt = Date.now();
    },
    onSignedOut() {},
  });
  onTestFinished(() => connection.close());
  return { seen, connection };
}

/**
 * Advances the time until the client retries. @returns the milliseconds since it was cut off: polling has advanced the
 * time already
 */
function waitOf({ seen }: ReturnType<typeof connect>, since = seen.downAt): number {
  const { asked } = seen;
  while (seen.asked === asked && Date.now() < since + 60_000) vi.advanceTimersByTime(10);
  return Date.now() - since;
}

describe('a connection that reconnects by itself', () => {
  it('is down as soon as it is closed, not when the server confirms it', async () => {
    const { url, sockets } = await startStreams();
    const { seen, connection } = connect(url);
    await expect.poll(() => [seen.opened, sockets.length], PATIENCE).toEqual([1, 1]);
    connection.close();
    expect(seen.down).toBe(1);
    await expect.poll(() => sockets, PATIENCE).toEqual([]);
    expect(seen).toMatchObject({ asked: 1, down: 1 });
  });

  it('tells of no frame that comes after it was closed', async () => {
    const { url, sockets } = await startStreams();
    const { seen, connection } = connect(url);
    await expect.poll(() => [seen.opened, sockets.length], PATIENCE).toEqual([1, 1]);
    const [server] = sockets;
    // sent before the server has read of the close, and so received while it closes
    server?.send('{}');
    connection.close();
    await expect.poll(() => sockets, PATIENCE).toEqual([]);
    expect(seen.frames).toBe(0);
  });

  it('waits longer each time for a server that closes at once, up to ten seconds', async () => {
    const { url, sockets } = await startStreams();
    const client = connect(url);
    const shortest = [200, 400, 800, 1600, 3200, 5000, 5000];
    for (const [n, least] of shortest.entries()) {
      await expect.poll(() => [client.seen.opened, sockets.length], PATIENCE).toEqual([n + 1, 1]);
      sockets[0]?.close();
      await expect.poll(() => client.seen.down, PATIENCE).toBe(n + 1);
      const waited = waitOf(client);
      expect(waited).toBeGreaterThanOrEqual(least);
      expect(waited).toBeLessThanOrEqual(2 * least + 10);
    }
  });

  it('begins with the shortest wait again once it has lasted ten seconds, and not before', async () => {
    const { url, sockets } = await startStreams();
    const client = connect(url);
    let opened = 0;
    async function waitAfter(lasted: number): Promise<number> {
      opened += 1;
      await expect.poll(() => [client.seen.opened, sockets.length], PATIENCE).toEqual([opened, 1]);
      vi.advanceTimersByTime(lasted);
      sockets[0]?.close();
      await expect.poll(() => client.seen.down, PATIENCE).toBe(opened);
      return waitOf(client);
    }
    for (let n = 0; n < 3; n++) await waitAfter(0);
    expect(await waitAfter(9900)).toBeGreaterThanOrEqual(1600);
    expect(await waitAfter(10_000)).toBeLessThanOrEqual(410);
  });

  it('times out after 15 seconds: for the ticket, and for the server', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    let reached = 0;
    silent.on('connection', (socket) => {
      reached += 1;
      socket.on('error', () => {});
      onTestFinished(() => void socket.destroy());
    });
    const aborted: boolean[] = [];
    let tickets = 0;
    const client = connect(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, (signal) => {
      signal.addEventListener('abort', () => aborted.push(true));
      // the first ticket never comes
      tickets += 1;
      return tickets === 1 ? new Promise(() => {}) : Promise.resolve('/');
    });
    vi.advanceTimersByTime(14_990);
    expect(aborted).toEqual([]);
    vi.advanceTimersByTime(10);
    const abortedAt = Date.now();
    await expect.poll(() => [aborted.length, vi.getTimerCount() > 0], PATIENCE).toEqual([1, true]);
    expect(waitOf(client, abortedAt)).toBeLessThanOrEqual(410);
    await expect.poll(() => reached, PATIENCE).toBe(1);
    vi.advanceTimersByTime(14_000);
    expect(client.seen).toMatchObject({ asked: 2, down: 0 });
    vi.advanceTimersByTime(1000);
    expect(client.seen).toMatchObject({ opened: 0, down: 1 });
    expect(waitOf(client)).toBeLessThanOrEqual(810);
    await expect.poll(() => reached, PATIENCE).toBe(2);
  });

  it('gives up a silent server only when it has not answered a ping for 20 seconds, however late timers come', async () => {
    const { url, sockets } = await startStreams();
    const client = connect(url);
    await expect.poll(() => [client.seen.opened, sockets.length], PATIENCE).toEqual([1, 1]);
    const pings: string[] = [];
    sockets[0]?.on('message', (data: Buffer) => pings.push(data.toString()));
    // as in a hidden page, which was asleep
    vi.setSystemTime(Date.now() + 60_000);
    vi.advanceTimersByTime(20_000);
    await expect.poll(() => pings, PATIENCE).toEqual(['{"type":"ping"}']);
    expect(client.seen.down).toBe(0);
    vi.advanceTimersByTime(15_000);
    expect(client.seen.down).toBe(0);
    vi.advanceTimersByTime(5000);
    expect(client.seen.down).toBe(1);
  });

  it('keeps a stream whose pings are answered, also within the same millisecond', async () => {
    const { url, sockets } = await startStreams();
    const client = connect(url);
    await expect.poll(() => [client.seen.opened, sockets.length], PATIENCE).toEqual([1, 1]);
    sockets[0]?.on('message', () => sockets[0]?.send('{"type":"pong"}'));
    for (let pongs = 1; pongs <= 3; pongs++) {
      vi.advanceTimersByTime(client.seen.openedAt + pongs * 20_000 - Date.now());
      // without a poll, which lets the client's time pass
      while (client.seen.frames < pongs) await new Promise((next) => setImmediate(next));
    }
    vi.advanceTimersByTime(20_000);
    expect(client.seen.down).toBe(0);
  });

  it.each([
    { bytes: 4096, atOnce: 40 },
    { bytes: 4097, atOnce: 20 },
    { bytes: 65_536, atOnce: 2 },
    { bytes: 300_000, atOnce: 1 },
  ])('sends $atOnce frames of $bytes bytes a second, as the server counts them', async ({ bytes, atOnce }) => {
    const { url, sockets } = await startStreams();
    const client = connect(url);
    await expect.poll(() => [client.seen.opened, sockets.length], PATIENCE).toEqual([1, 1]);
    let received = 0;
    sockets[0]?.on('message', () => (received += 1));
    const pong = once(sockets[0] as WebSocket, 'pong');
    const room = bytes - Buffer.byteLength(JSON.stringify({ text: '' }));
    const frame = { text: 'é'.repeat(room / 2) + 'e'.repeat(room % 2) };
    for (let n = 0; n <= atOnce; n++) client.connection.send(frame);
    await expect.poll(() => received, PATIENCE).toBe(atOnce);
    sockets[0]?.ping();
    await pong;
    expect(received).toBe(atOnce);
    vi.advanceTimersByTime(1000);
    await expect.poll(() => received, PATIENCE).toBe(atOnce + 1);
  });

  it('ends when closed, also while it is being opened', async () => {
    const { url, sockets } = await startStreams();
    const waiting = connect(url, () => new Promise(() => {}));
    waiting.connection.close();
    const open = connect(url);
    await expect.poll(() => sockets.length, PATIENCE).toBe(1);
    open.connection.close();
    await expect.poll(() => sockets.length, PATIENCE).toBe(0);
    vi.advanceTimersByTime(60_000);
    expect([waiting.seen.asked, open.seen.asked]).toEqual([1, 1]);
  });
});
