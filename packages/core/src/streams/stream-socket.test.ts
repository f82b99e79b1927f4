import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openClient } from '../../test/core-client.js';
import { startCoreServer } from '../../test/core-server.js';
import { router } from '../index.js';
import { StreamSocket } from './stream-socket.js';

const MEBIBYTE = 1024 * 1024;
/** The bytes that frame a large message. */
const HEAD = 10;
const settled = () => new Promise((next) => setImmediate(next));

/** A socket of a server with its client, and the line between them, which can be held up. */
async function openSocket() {
  let opened!: (both: { socket: StreamSocket; line: Socket }) => void;
  const both = new Promise<{ socket: StreamSocket; line: Socket }>((resolve) => (opened = resolve));
  const server = await startCoreServer(router({}), {
    streams: () => [
      { path: '/open', open: () => Promise.resolve({ begin: (socket, { socket: line }) => opened({ socket, line }) }) },
    ],
  });
  const client = await openClient(`${server.url}/open`);
  return { client, ...(await both), server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
const textOf = (bytes: number) => Buffer.from(JSON.stringify('x'.repeat(bytes - 2)));

describe('the socket of a stream', () => {
  it('begins uncounted, used, alive and within its rate', () => {
    // as the server makes one
    const socket = Reflect.construct(StreamSocket, [null, undefined, {}]) as StreamSocket;
    const { holder, subscriptions, isKept, isUsed, isAlive, isWithinRate } = socket;
    expect({ holder, subscriptions, isKept }).toEqual({ holder: '', subscriptions: 0, isKept: false });
    expect({ isUsed, isAlive, isWithinRate }).toEqual({ isUsed: true, isAlive: true, isWithinRate: true });
  });

  it('delivers text as text, counts it, and tells when it was written', async () => {
    await using open = await openSocket();
    const { socket, client, server } = open;
    const kinds: boolean[] = [];
    client.socket.on('message', (_data, isBinary) => kinds.push(isBinary));
    socket.deliver(textOf(10));
    await new Promise<void>((written) => socket.send(textOf(10), () => written()));
    await new Promise<void>((written) => socket.send('{}', { binary: false }, () => written()));
    for (let n = 0; n < 3; n += 1) await client.next();
    expect(kinds).toEqual([false, true, false]);
    expect(server.streams.state().sent).toBe(3);
  });

  it('sends without a count where none is kept', async () => {
    await using open = await openSocket();
    open.socket.counts = undefined;
    open.socket.say({ type: 'uncounted' });
    expect(await open.client.next()).toEqual({ type: 'uncounted' });
  });

  it('sends nothing once it is closing', async () => {
    await using open = await openSocket();
    const { socket, server, client } = open;
    socket.say({ type: 'last' });
    socket.end('restart');
    socket.say({ type: 'late' });
    expect(server.streams.state().sent).toBe(1);
    expect(await client.next()).toEqual({ type: 'last' });
    await expect(client.next()).rejects.toThrow('the stream was closed');
  });

  it('may have a mebibyte buffered, and is closed as too slow beyond', async () => {
    await using open = await openSocket();
    const { socket, server, client, line } = open;
    line.cork();
    socket.deliver(textOf(MEBIBYTE - HEAD));
    expect(socket.bufferedAmount).toBe(MEBIBYTE);
    socket.deliver(textOf(10));
    expect([socket.readyState, server.streams.state().sent]).toEqual([StreamSocket.OPEN, 2]);
    socket.deliver(textOf(10));
    expect([socket.readyState, server.streams.state().sent]).toEqual([StreamSocket.CLOSING, 2]);
    line.uncork();
    expect(await client.closed).toEqual([1013, 'the reader is too slow']);
  });
});

describe('the replays of a socket', () => {
  it('have their turn one after the other', async () => {
    await using open = await openSocket();
    const turns: string[] = [];
    const take = async (name: string) => {
      const end = await open.socket.replayTurn();
      turns.push(name);
      return end;
    };
    const all = ['first', 'second', 'third'].map((name) => take(name));
    await settled();
    expect(turns).toEqual(['first']);
    (await all[0])?.();
    await settled();
    expect(turns).toEqual(['first', 'second']);
    (await all[1])?.();
    (await all[2])?.();
    (await take('later'))();
    expect(turns).toEqual(['first', 'second', 'third', 'later']);
  });
});

describe('waiting until a socket is drained', () => {
  /** Whether it is drained, as soon as that can be known. */
  async function drain(socket: StreamSocket) {
    const state = { isDrained: false, drained: socket.drained().then(() => void (state.isDrained = true)) };
    await settled();
    return state;
  }

  it('ends at once while at most 256 KiB are buffered', async () => {
    await using open = await openSocket();
    const { socket, line } = open;
    line.cork();
    socket.deliver(textOf(MEBIBYTE / 4 - HEAD));
    expect(socket.bufferedAmount).toBe(MEBIBYTE / 4);
    expect(await drain(socket)).toMatchObject({ isDrained: true });
    line.uncork();
  });

  it('ends only when the rest has been sent where more is buffered', async () => {
    await using open = await openSocket();
    const { socket, line, client } = open;
    line.cork();
    socket.deliver(textOf(MEBIBYTE / 2));
    const state = await drain(socket);
    expect(state.isDrained).toBe(false);
    line.uncork();
    await client.next();
    await state.drained;
    expect(socket.readyState).toBe(StreamSocket.OPEN);
  });

  it('ends when the socket closes, whatever is buffered', async () => {
    await using open = await openSocket();
    const { socket, line } = open;
    line.cork();
    socket.deliver(textOf(MEBIBYTE / 2));
    const state = await drain(socket);
    socket.end('restart');
    await state.drained;
    expect(socket.bufferedAmount).toBeGreaterThan(MEBIBYTE / 4);
    line.uncork();
  });
});
