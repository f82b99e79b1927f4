import { holdTime } from '@tandem/testing/held-time';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createStreamPlaces, type StreamConnection } from './stream-places.js';

const newConnection = (): StreamConnection => ({ holder: '', subscriptions: 0 });

let nextSecond: () => void;
beforeEach(() => {
  nextSecond = holdTime();
});

/** Runs this with a fresh count and a connection of ann's. */
function counting<T>(run: (places: ReturnType<typeof createStreamPlaces>, connection: StreamConnection) => T): T {
  const [places, connection] = [createStreamPlaces(), newConnection()];
  places.open(connection, 'ann');
  return run(places, connection);
}

describe('the frames of a holder', () => {
  it('are accepted up to two hundred a second over all connections, and for each holder by itself', () => {
    const accepted = counting((places, first) => {
      const [second, other] = [newConnection(), newConnection()];
      places.open(second, 'ann');
      places.open(other, 'bob');
      return [[first, 150], [second, 49], [first, 5], [second, 1], [other, 200]].map(([connection, count]) => places.frames(connection as StreamConnection, count as number)); // prettier-ignore
    });
    expect(accepted).toEqual([150, 49, 1, 0, 200]);
  });

  it('are counted anew in each second', () => {
    const accepted = counting((places, connection) => {
      const first = places.frames(connection, 201);
      nextSecond();
      return [first, places.frames(connection, 201)];
    });
    expect(accepted).toEqual([200, 200]);
  });

  it('may be taken back', () => {
    const accepted = counting((places, connection) => [200, -1, 2].map((count) => places.frames(connection, count)));
    expect(accepted).toEqual([200, 0, 1]);
  });

  it('are a flood from four hundred a second', () => {
    const floods = counting((places, connection) =>
      [399, 1, 1].map((count) => {
        places.frames(connection, count);
        return places.isFlooding(connection);
      }),
    );
    expect(floods).toEqual([false, true, true]);
  });

  it('are not remembered where it has no connection, or no longer', () => {
    const accepted = counting((places, connection) => {
      const uncounted = { holder: 'bob', subscriptions: 0 };
      const outcomes = [places.frames(uncounted, 200), places.frames(uncounted, 200), places.frames(connection, 200)];
      places.close(connection);
      places.open(connection, 'ann');
      return [...outcomes, places.frames(connection, 200)];
    });
    expect(accepted).toEqual([200, 200, 200, 200]);
  });

  it('are remembered while another connection of it is open', () => {
    const accepted = counting((places, connection) => {
      const other = newConnection();
      places.open(other, 'ann');
      places.frames(other, 200);
      places.close(other);
      return places.frames(connection, 1);
    });
    expect(accepted).toBe(0);
  });
});

describe('a refused place', () => {
  it('may be asked for again after ten seconds', () => {
    const places = createStreamPlaces({ connections: 1, subscriptionsPerConnection: 0 });
    const connection = newConnection();
    places.open(connection, 'ann');
    for (const refused of [() => places.subscribe(connection), () => places.checkConnection('ann')])
      expect(refused).toThrow(expect.objectContaining({ status: 429, retryAfter: 10 }));
  });

  it('is every place where the limit is none', () => {
    const places = createStreamPlaces({ connections: 0 });
    expect(() => places.checkConnection('ann')).toThrow(expect.objectContaining({ status: 429 }));
  });
});

it('a subscription that ends is given back to its connection and its holder', () => {
  const places = createStreamPlaces();
  const connection = newConnection();
  places.open(connection, 'ann');
  places.subscribe(connection);
  places.subscribe(connection);
  places.unsubscribe(connection);
  expect([connection.subscriptions, places.total().subscriptions]).toEqual([1, 1]);
});

it('a closed connection has no subscriptions to give back', () => {
  const places = createStreamPlaces();
  const connection = newConnection();
  places.open(connection, 'ann');
  places.subscribe(connection);
  places.close(connection);
  places.unsubscribe(connection);
  expect(connection).toEqual(newConnection());
});

describe('the subscriptions of a holder', () => {
  /** Starts so many on each connection. @returns the numbers of those that have started after each of these milliseconds */
  async function start(
    places: ReturnType<typeof createStreamPlaces>,
    connections: StreamConnection[],
    each: number,
    steps: number[],
  ) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const outcomes: string[] = [];
    for (const connection of connections)
      for (let n = 0; n < each; n++) {
        places.turn(connection).then(
          () => outcomes.push('started'),
          ({ status }: { status: number }) => outcomes.push(String(status)),
        );
      }
    const counts: number[] = [];
    for (const step of steps) {
      await vi.advanceTimersByTimeAsync(step);
      counts.push(outcomes.length);
    }
    return { counts, outcomes };
  }

  it('start a hundred a second over all connections, after the first twenty', async () => {
    await counting(async (places, first) => {
      const [second, other] = [newConnection(), newConnection()];
      places.open(second, 'ann');
      places.open(other, 'bob');
      expect((await start(places, [first, second], 60, [0, 9, 1, 490, 499, 1])).counts).toEqual([21, 21, 22, 71, 120, 120]);
      expect((await start(places, [other], 21, [0])).counts).toEqual([21]);
    });
  });

  it('are not remembered once it has no connection', async () => {
    await counting(async (places, connection) => {
      expect((await start(places, [connection], 30, [100])).counts).toEqual([30]);
      places.close(connection);
      places.open(connection, 'ann');
      expect((await start(places, [connection], 21, [0])).counts).toEqual([21]);
    });
  });

  it('do not start once their connection is closed', async () => {
    await counting(async (places, connection) => {
      const starting = start(places, [connection], 22, [0, 10]);
      await Promise.resolve();
      places.close(connection);
      expect((await starting).outcomes.slice(-1)).toEqual(['503']);
    });
  });
});
