import { describe, expect, it } from 'vitest';
import { SocketReader } from './socket-reader.js';
import type { StreamSocket } from './stream-socket.js';

/** A reader, and what its socket was told. */
function openReader() {
  const told: string[] = [];
  const socket = {
    bufferedAmount: 0,
    waitingBytes: 0,
    deliver: (text: Buffer) => void told.push(text.toString()),
    end: (reason: string) => void told.push(`end: ${reason}`),
  };
  const open = () => new SocketReader(socket as StreamSocket, 'ann');
  return { told, socket, reader: open(), other: open() };
}
const text = (content: string) => Buffer.from(content);

describe('the subscription of a socket', () => {
  it('queues events while it catches up, then sends them in order, and later ones at once', () => {
    const { reader, told } = openReader();
    reader.take({}, text('1'));
    reader.take({}, text('2'));
    expect(told).toEqual([]);
    reader.goLive();
    expect(told).toEqual(['1', '2']);
    reader.take({}, text('3'));
    reader.goLive();
    expect(told).toEqual(['1', '2', '3']);
  });

  it('without events sends nothing when it has caught up', () => {
    const { reader, told } = openReader();
    reader.goLive();
    expect(told).toEqual([]);
  });

  it('closes the socket as too slow when more than a mebibyte is queued', () => {
    const { reader, told } = openReader();
    const half = Buffer.alloc(512 * 1024);
    reader.take({}, half);
    reader.take({}, half);
    expect(told).toEqual([]);
    reader.take({}, text('x'));
    expect(told).toEqual(['end: slow']);
  });

  it('shares that with the others of its socket, and with what is sent', () => {
    const { reader, other, told, socket } = openReader();
    const half = Buffer.alloc(512 * 1024);
    reader.take({}, half);
    other.take({}, half);
    expect(told).toEqual([]);
    reader.drop();
    other.take({}, half);
    expect(told).toEqual([]);
    other.goLive();
    expect(told.splice(0)).toHaveLength(2);
    expect(socket.waitingBytes).toBe(0);
    const third = openReader();
    third.socket.bufferedAmount = 1024 * 1024;
    third.reader.take({}, text('x'));
    expect(third.told).toEqual(['end: slow']);
  });
});
