import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** One request of a load. */
export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

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
  requests: number;
  seconds: number;
}

/** Sends one request. */
export function send(
  agent: http.Agent,
  url: string,
  { method, path, headers, body }: LoadRequest,
): Promise<{ status: number; text: string }> {
  const text = body && JSON.stringify(body);
  const length = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, { method, agent, headers: { ...headers, ...length } }, (response) => {
      const chunks: Buffer[] = [];
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('error', reject)
        .on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    request.on('error', reject);
    request.end(text);
  });
}

/**
 * Lets all clients send at once until the time is up; what is under way then is waited for and counted.
 * @throws Error for an answer with another status than expected
 */
export async function runLoad(url: string, clients: readonly LoadClient[], milliseconds: number): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients.length });
  const start = performance.now();
  const end = start + milliseconds;
  let requests = 0;

  async function work(client: LoadClient): Promise<void> {
    while (performance.now() < end) {
      const request = client.next();
      if (!request) return;
      const { status, text } = await send(agent, url, request);
      if (status !== client.expected) throw new Error(`${request.method} ${request.path}: ${status} ${text.slice(0, 300)}`);
      client.take?.(text);
      requests++;
    }
  }
  try {
    await Promise.all(clients.map(work));
  } finally {
    agent.destroy();
  }
  return { requests, seconds: (performance.now() - start) / 1000 };
}

/**
 * Lets each client send so many requests a second until the time is up. One that falls due while an answer is still awaited is sent after
 * it, and counts from when it was due: a server that stalls does not get fewer bad figures by being asked less.
 * @returns milliseconds that each answer took
 * @throws Error for an answer with another status than expected
 */
export async function runPaced(
  url: string,
  clients: readonly LoadClient[],
  { perSecond, milliseconds }: { perSecond: number; milliseconds: number },
): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients.length });
  const start = performance.now();
  const interval = 1000 / perSecond;
  const latencies: number[] = [];

  async function work(client: LoadClient, at: number): Promise<void> {
    // not all at the same moment
    for (let due = start + (interval * at) / clients.length; due < start + milliseconds; due += interval) {
      const isLate = performance.now() > due;
      if (!isLate) await wait(due - performance.now());
      const request = client.next();
      if (!request) return;
      const begun = isLate ? due : performance.now();
      const { status, text } = await send(agent, url, request);
      if (status !== client.expected) throw new Error(`${request.method} ${request.path}: ${status} ${text.slice(0, 300)}`);
      latencies.push(performance.now() - begun);
    }
  }
  try {
    await Promise.all(clients.map(work));
  } finally {
    agent.destroy();
  }
  return latencies;
}

/** Does something so many times, so many of them at once. */
export async function repeatAtOnce(count: number, atOnce: number, work: (turn: number) => Promise<void>): Promise<void> {
  let begun = 0;
  async function worker(): Promise<void> {
    while (begun < count) await work(begun++);
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}
