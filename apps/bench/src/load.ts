import { setTimeout as wait } from 'node:timers/promises';
import { eachConnected, type Connection, type LoadRequest } from './connection.js';

/** Somebody who sends requests, one after the other, over one connection. */
export interface LoadClient {
  /** The next request; undefined when there is nothing left to ask for. */
  next(): LoadRequest | undefined;
  /** The status to get; anything else ends the benchmark. */
  expected: number;
  /** Told of each answer's body, as text. */
  take?(body: string): void;
}

export interface LoadResult {
  /** All that were answered. */
  requests: number;
  /** Requests a second. */
  rate: number;
}

/**
 * Lets all clients send at once until the time is up; what is under way then is waited for and counted.
 * @throws Error for an answer with another status than expected
 */
export async function runLoad(url: string, clients: readonly LoadClient[], milliseconds: number): Promise<LoadResult> {
  const start = performance.now();
  const end = start + milliseconds;
  let requests = 0;

  async function work(connection: Connection, client: LoadClient): Promise<void> {
    while (performance.now() < end) {
      const request = client.next();
      if (!request) return;
      const text = await connection.send(request, client.expected);
      client.take?.(text);
      requests++;
    }
  }
  await eachConnected(url, clients, work);
  return { requests, rate: (requests / (performance.now() - start)) * 1000 };
}

/**
 * Lets each client send so many requests a second until the time is up. One that falls due while an answer is still awaited is sent after
 * it, and counts from when it was due: a server that stalls does not get fewer bad figures by being asked less.
 * @param settings.failed told of an answer with another status than expected, or none; its time counts too
 * @returns milliseconds that each answer took
 * @throws Error for such an answer, without `failed`
 */
export async function runPaced(
  url: string,
  clients: readonly LoadClient[],
  { perSecond, milliseconds, failed }: { perSecond: number; milliseconds: number; failed?: (error: unknown) => void },
): Promise<number[]> {
  const start = performance.now();
  const interval = 1000 / perSecond;
  const latencies: number[] = [];

  async function work(connection: Connection, client: LoadClient, at: number): Promise<void> {
    // not all at the same moment
    for (let due = start + (interval * at) / clients.length; due < start + milliseconds; due += interval) {
      const isLate = performance.now() > due;
      if (!isLate) await wait(due - performance.now());
      const request = client.next();
      if (!request) return;
      const begun = isLate ? due : performance.now();
      await connection.send(request, client.expected).catch((error: unknown) => {
        if (!failed) throw error;
        failed(error);
      });
      latencies.push(performance.now() - begun);
    }
  }
  await eachConnected(url, clients, work);
  return latencies;
}

/**
 * Counts what several do again and again, each by its own `repeat`: so many times in all. The time begins when as many have ended as run at
 * once, and is over while as many still run: what ends alone on one of several cores, with nothing left for the others, tells no rate.
 */
export function countSteadily(count: number, atOnce: number) {
  let begun = 0;
  let ended = 0;
  let start = 0;
  let seconds: number | undefined;
  return {
    async repeat(work: (turn: number) => Promise<unknown>): Promise<void> {
      while (seconds === undefined) {
        await work(begun++);
        ended++;
        if (ended === atOnce) start = performance.now();
        if (ended === atOnce + count) seconds = (performance.now() - start) / 1000;
      }
    },
    /** To be asked when all have returned. */
    result: (): LoadResult => ({ requests: ended, rate: count / (seconds ?? 0) }),
  };
}
