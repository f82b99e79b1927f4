import { holdTime } from '@tandem/testing/held-time';
import { beforeEach, describe, expect, it } from 'vitest';
import { countCalls, countFrame, forgiveStop } from './pace.js';
import { createStreamPlaces } from './stream-places.js';
import type { StreamSocket } from './stream-socket.js';

/** The part of a socket that is counted, and why it was ended. */
function newSocket() {
  const ended: string[] = [];
  const counts = { holder: '', subscriptions: 0, frames: 0, second: 0, stops: 0, isWithinRate: true };
  return Object.assign({ ...counts, ended, end: (reason: string) => void ended.push(reason) } as unknown as StreamSocket, {
    ended,
  });
}

beforeEach(() => void holdTime());

const times = <T>(count: number, run: () => T): T[] => Array.from({ length: count }, run);

/** A socket's frames of these sizes: which were within the rates, and why the socket was ended. */
function receive(sizes: number[], places = createStreamPlaces()) {
  const socket = newSocket();
  const within = sizes.map((bytes) => {
    countFrame(socket, bytes, places);
    return socket.isWithinRate;
  });
  return { within, ended: socket.ended, frames: socket.frames };
}

describe('the frames of a connection', () => {
  it('are within the rate up to fifty a second, and close it after a hundred', () => {
    const { within, ended } = receive(Array<number>(100).fill(1));
    expect(within).toEqual([...Array<boolean>(50).fill(true), ...Array<boolean>(50).fill(false)]);
    expect(ended).toEqual([]);
    expect(receive(Array<number>(101).fill(1)).ended).toEqual(['flooding']);
  });

  it('count once for each part of 4096 bytes, and at least once', () => {
    expect(receive([0, 1, 4096]).frames).toBe(3);
    expect(receive([4097]).frames).toBe(2);
    expect(receive([50 * 4096]).within).toEqual([true]);
    expect(receive([50 * 4096 + 1]).within).toEqual([false]);
  });

  it('are counted anew in each second', () => {
    const socket = Object.assign(newSocket(), { second: -1, frames: 200, stops: 7 });
    countFrame(socket, 1, createStreamPlaces());
    expect(socket).toMatchObject({ frames: 1, stops: 0, isWithinRate: true, ended: [] });
    expect(socket.second).toBeGreaterThanOrEqual(0);
  });

  it('close it as well when its holder floods over all connections', () => {
    const flood = (frames: number) => {
      const places = createStreamPlaces();
      const [flooding, other] = [newSocket(), newSocket()];
      for (const socket of [flooding, other]) places.open(socket, 'ann');
      places.frames(other, frames);
      countFrame(flooding, 1, places);
      return flooding.ended;
    };
    expect(flood(399)).toEqual([]);
    expect(flood(400)).toEqual(['flooding']);
  });

  it('count once for each of their calls', () => {
    const [socket, places] = [newSocket(), createStreamPlaces()];
    const accepted = times(3, () => {
      countFrame(socket, 1, places);
      return countCalls(socket, 20, places);
    });
    expect(accepted).toEqual([20, 20, 10]);
  });
});

describe('a frame that only stops subscriptions', () => {
  /** Places that keep what they counted. */
  function keptPlaces() {
    const counted: number[] = [];
    return { ...createStreamPlaces(), counted, frames: (_socket: unknown, count: number) => (counted.push(count), count) };
  }

  it('is not counted, neither for its connection nor for its holder', () => {
    const [socket, places] = [newSocket(), keptPlaces()];
    countFrame(socket, 1, places);
    forgiveStop(socket, places);
    expect([socket.frames, socket.stops, places.counted]).toEqual([0, 1, [1, -1]]);
  });

  it('was not counted for the holder where the connection was beyond its rate', () => {
    const [socket, places] = [newSocket(), keptPlaces()];
    socket.isWithinRate = false;
    socket.frames = 60;
    forgiveStop(socket, places);
    expect([socket.frames, socket.stops, places.counted]).toEqual([59, 1, []]);
  });

  it('is counted beyond a thousand a second', () => {
    const [socket, places] = [newSocket(), keptPlaces()];
    times(1001, () => forgiveStop(socket, places));
    expect([socket.frames, socket.stops, places.counted.length]).toEqual([-1000, 1000, 1000]);
  });
});
