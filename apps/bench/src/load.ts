import { setTimeout as wait } from 'node:timers/promises';
import { eachConnected, type Connection, type LoadRequest } from './connection.js';

/** A client that sends requests one after the other over one connection. */
export interface LoadClient {
  /** The next request; undefined when there are no more. */
  next(): LoadRequest | undefined;
  /** The expected status; any other ends the benchmark. */
  expected: number;
  /** Called with each answer's body, as text. */
  take?(body: string): void;
}

export interface LoadResult {
  /** Answered requests. */
  requests: number;
  /** Requests a second. */
  rate: number;
  /** 99th percentile of the time until an answer, in milliseconds, where it is measured. */
  p99?: number;
}

/** The value below which this share of the values is. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
}

/**
 * Lets all clients send concurrently until the time is up; pending requests are awaited and counted.
 * @throws Error for an answer with another status than expected
 */
export async function runLoad(url: string, clients: readonly LoadClient[], milliseconds: number): Promise<LoadResult> {
  const start = performance.now();
  const end = start + milliseconds;
  const latencies: number[] = [];

  async function work(connection: Connection, client: LoadClient): Promise<void> {
    for (let begun = performance.now(); begun < end;) {
      const request = client.next();
      if (!request) return;
      const text = await connection.send(request, client.expected);
      const now = performance.now();
      latencies.push(now - begun);
      begun = now;
      client.take?.(text);
    }
  }
  await eachConnected(url, clients, work);
  const seconds = (performance.now() - start) / 1000;
  return { requests: latencies.length, rate: latencies.length / seconds, p99: percentile(latencies, 0.99) };
}

/**
 * Each client sends at this rate until the time is up. A request that falls due while an answer is awaited is sent
 * afterwards, and its time counts from when it was due, so that a server that stalls does not look better by being
 * asked less (coordinated omission).
 * @param settings.failed called for an answer with another status than expected, or none; its time counts too
 * @returns milliseconds of each answer
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
    // spread over the interval
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
 * Counts the completions of concurrent repeated work. The time runs from when as many have completed as run
 * concurrently until the total is reached, while all still run: completions without competition for the cores would
 * distort the rate.
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
    /** Call it when all have returned. */
    result: (): LoadResult => ({ requests: ended, rate: count / (seconds ?? 0) }),
  };
}
