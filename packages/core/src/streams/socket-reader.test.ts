import { describe, expect, it } from 'vitest';
import { SocketReader } from './socket-reader.js';
import type { StreamSocket } from './stream-socket.js';

/** A reader, and what its socket was told. */
function openReader() {
  const told: string[] = [];
  const socket = {
    deliver: (text: Buffer) => void told.push(text.toString()),
    end: (reason: string) => void told.push(`end: ${reason}`),
  };
  return { told, reader: new SocketReader(socket as StreamSocket, 'ann') };
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
});
