import { once, setMaxListeners } from 'node:events';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { PASSWORD, type Person } from './people.js';
import { runMeasured } from './measured-child.js';

/** Attacks come from a different address than the reads they disturb. */
const ATTACKER_ADDRESS = '127.0.0.2';
const BATCH_CALLS = 20;
const MEGABYTE = 1_000_000;
/**
 * A hundred requests a second from twenty senders: refusals cost little, and bcrypt must not run more often than
 * allowed.
 */
const PASSWORD_PAUSE_MS = 200;
/** As many as one identity may have. */
const SUBSCRIPTIONS = 5000;
const FRAME_PAUSE_MS = (BATCH_CALLS / 50) * 1000;

export interface Target {
  url: string;
  people: readonly Person[];
  /** Channels of the first account, in which nobody writes. */
  channelIds: readonly string[];
}

interface Attacker extends Target {
  over: AbortSignal;
  /** Counts an answer by its status, or by the failure instead. */
  told(status: string): void;
}

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Returns a function that sends a request over one of `over` connections. */
function sender({ url, over, told }: Attacker, connections: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, localAddress: ATTACKER_ADDRESS });
  return ({ method, path, headers = {}, body }: Sent): Promise<void> =>
    new Promise((resolve) => {
      const finish = (status: string) => {
        told(status);
        resolve();
      };
      const type = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const request = http.request(new URL(path, url), { agent, method, headers: { ...headers, ...type }, signal: over });
      request.on('response', (response) => {
        response.resume().on('close', () => finish(String(response.statusCode)));
      });
      request.on('error', ({ name, message }) => finish(name === 'AbortError' ? 'broken off' : message));
      request.end(body);
    });
}

/**
 * Sends requests repeatedly on `atOnce` connections until the attack ends.
 * @param pauseMs between an answer and the next request: without it, requests that are answered immediately would only
 * load the machine
 */
async function flood(attacker: Attacker, atOnce: number, next: (turn: number) => Sent, pauseMs = 0): Promise<void> {
  const send = sender(attacker, atOnce);
  const repeat = async (_: unknown, turn: number) => {
    while (!attacker.over.aborted) {
      await send(next(turn));
      if (pauseMs > 0) await wait(pauseMs, undefined, { signal: attacker.over }).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: atOnce }, repeat));
}

const bearer = (person: Person | undefined) => ({ authorization: `Bearer ${person?.accessToken}` });
const query = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();

/** The most expensive transformation that is open to anybody: all rows, in an order without an index. */
const SORT_ALL = 'orderby(description) then top(100000) then groupby((name), aggregate($count as n))';

const ATTACKS: Record<string, (attacker: Attacker) => Promise<void>> = {
  /** One connection that sorts everything, twenty times in each request. */
  'transformations in a batch': (attacker) => {
    const input = Object.fromEntries(Array.from({ length: BATCH_CALLS }, (_, at) => [at, { $apply: SORT_ALL }]));
    const path = `/trpc/${Array(BATCH_CALLS).fill('products.list').join(',')}?${query({ batch: '1', input: JSON.stringify(input) })}`;
    return flood(attacker, 1, () => ({ method: 'GET', path }));
  },
  /** The same over REST, from several connections. */
  transformations: (attacker) => flood(attacker, 8, () => ({ method: 'GET', path: `/products?${query({ $apply: SORT_ALL })}` })),
  /** Filters that no index serves. */
  'filtered pages': (attacker) =>
    flood(attacker, 12, (turn) => ({
      method: 'GET',
      path: `/products?${query({ $filter: `description gt '${turn}' and name ne 'x'`, $skip: '50000' })}`,
    })),
  /** Many subscriptions of one account over many sockets. */
  async subscriptions(attacker) {
    const { url, people, channelIds, over, told } = attacker;
    const address = `${url.replace(/^http/, 'ws')}/trpc?connectionParams=1`;
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = new WebSocket(address, { localAddress: ATTACKER_ADDRESS, perMessageDeflate: false });
        socket.on('error', ({ message }) => told(message)).on('close', (code) => told(`closed ${code}`));
        await once(socket, 'open');
        socket.send(JSON.stringify({ method: 'connectionParams', data: bearer(people[0]) }));
        return socket;
      }),
    );
    let id = 0;
    const open = (socket: WebSocket) =>
      new Promise<void>((resolve) => {
        const calls = Array.from({ length: BATCH_CALLS }, () => {
          const input = { channelId: channelIds[id % channelIds.length] };
          return { id: ++id, method: 'subscription', params: { path: 'chat.channelEvents', input } };
        });
        socket.send(JSON.stringify(calls), () => resolve());
      });
    // at the fastest rate that does not disconnect the client
    for (let turn = 0; turn < SUBSCRIPTIONS / sockets.length / BATCH_CALLS && !over.aborted; turn++) {
      await Promise.all(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).map(open));
      told('frames of calls');
      await wait(FRAME_PAUSE_MS, undefined, { signal: over }).catch(() => {});
    }
    if (!over.aborted) await once(over, 'abort');
    for (const socket of sockets) socket.terminate();
  },
  /** Pages whose related records each appear a hundred times, which is refused, or once, which is answered. */
  'related records': (attacker) =>
    flood(attacker, 4, (turn) => ({
      method: 'GET',
      path: `/products?${query({ $expand: 'attributes', $top: turn % 2 ? '100' : '1', $filter: "name eq 'With attributes'" })}`,
    })),
  /** Five accounts that change their passwords to the same ones. */
  'password changes': (attacker) => {
    const body = JSON.stringify({ password: PASSWORD, newPassword: PASSWORD });
    const other = JSON.stringify({ password: PASSWORD, newPassword: `${PASSWORD} of another kind` });
    const next = (turn: number) => {
      const person = attacker.people[turn % 5];
      const path = `/auth/${person?.id}/change-password`;
      return { method: 'PATCH', path, headers: bearer(person), body: turn < 10 ? body : other };
    };
    return flood(attacker, 20, next, PASSWORD_PAUSE_MS);
  },
  /** Bodies of a megabyte of unknown keys. */
  'unknown keys': (attacker) => {
    const keys: string[] = [];
    for (let length = 2; length < MEGABYTE - 20; length += (keys.at(-1) as string).length + 1) keys.push(`"${keys.length}":1`);
    const body = `{${keys.join(',')}}`;
    return flood(attacker, 4, (turn) => ({ method: 'POST', path: '/channels', headers: bearer(attacker.people[turn]), body }));
  },
};

let end: (() => Promise<Record<string, number>>) | undefined;

/** Starts an attack. @returns when the first answer has arrived */
async function begin({ name, target }: { name: string; target: Target }): Promise<void> {
  const over = new AbortController();
  // each request under way listens for the end
  setMaxListeners(0, over.signal);
  const answers: Record<string, number> = {};
  let isUnderWay = (): void => {};
  const underWay = new Promise<void>((resolve) => (isUnderWay = resolve));
  const told = (status: string) => {
    answers[status] = (answers[status] ?? 0) + 1;
    isUnderWay();
  };
  const ended = ATTACKS[name]?.({ ...target, over: over.signal, told });
  if (!ended) throw new Error(`no attack ${name}`);
  end = async () => {
    over.abort();
    await ended;
    return answers;
  };
  await Promise.race([underWay, ended]);
}

await runMeasured(() =>
  Promise.resolve({
    url: '',
    close: () => Promise.resolve(),
    handlers: { names: () => Object.keys(ATTACKS), begin, end: () => end?.() },
  }),
);
