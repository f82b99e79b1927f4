import { once } from 'node:events';
import { holdTime } from '@tandem/testing/held-time';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openClient, type CoreClient } from '../../test/core-client.js';
import { startCoreServer, type CoreServer } from '../../test/core-server.js';
import { authenticated, createTrpcStream, publicProcedure, router, type AccessWatch, type ServerFacts } from '../index.js';
import type { Watched } from '../streams/access-watch.js';

/** A server of its own, with the calls it has taken and the streams that are watched. */
async function startServer(
  options: {
    heartbeatMs?: number;
    verify?: (own: ServerFacts['verifyAccess']) => ServerFacts['verifyAccess'];
    turn?: ServerFacts['places']['turn'];
  } = {},
) {
  const taken: unknown[] = [];
  const watched: Watched[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const who = authenticated.output(z.string()).query(({ ctx }) => ctx.identity.id);
  const app = router({
    cookies: router({ who }),
    calls: router({
      who,
      take: publicProcedure.input(z.strictObject({ n: z.number() })).output(z.number()).query(({ input }) => (taken.push(input.n), input.n)),
      headers: publicProcedure.output(z.unknown()).query(({ ctx: { headers, rawHeaders } }) => ({ headers, rawHeaders })),
      wait: publicProcedure.output(z.string()).query(async () => (await released, 'released')),
      twice: publicProcedure.output(z.unknown()).query(({ ctx }) => {
        const leave = [ctx.calls?.subscribed(), ctx.calls?.subscribed()];
        leave[0]?.();
        leave[0]?.();
        const { subscriptions } = ctx.server.places.total();
        leave[1]?.();
        return [subscriptions, ctx.server.places.total().subscriptions];
      }),
      follow: publicProcedure.subscription(async function* follow({ signal }) {
        yield 'first';
        if (signal) await once(signal, 'abort');
      }),
    }),
  }); // prettier-ignore
  const kept = (watch: AccessWatch): AccessWatch => ({
    ...watch,
    add: (one) => (watched.push(one), watch.add(one)),
    remove: (one) => (watched.splice(watched.indexOf(one), 1), watch.remove(one)),
  });
  const server: CoreServer = await startCoreServer(app, {
    heartbeatMs: options.heartbeatMs,
    streams: ({ watch }) => [createTrpcStream(app, kept(watch))],
    prepare: (_host, facts) => {
      if (options.verify) facts.verifyAccess = options.verify(facts.verifyAccess);
      if (options.turn) facts.places = { ...facts.places, turn: options.turn };
    },
  });
  return { ...server, taken, watched, release, path: `${server.url}/trpc` };
}

const ask = (id: unknown, path: string, input: object = {}, method = 'query') => ({ id, method, params: { path, input } });
const take = (id: unknown, n: number) => ask(id, 'calls.take', { n });
const stop = (id: unknown) => ({ id, method: 'subscription.stop' });
interface Answer {
  id: unknown;
  result?: { type: string; data?: unknown };
  error?: { data: { httpStatus: number; path?: unknown } };
}
async function answer(client: CoreClient): Promise<[id: unknown, outcome: unknown]> {
  const { id, result, error } = (await client.next()) as unknown as Answer;
  return [id, error ? error.data.httpStatus : (result?.data ?? result?.type)];
}
async function answers(client: CoreClient, count: number) {
  const all: Awaited<ReturnType<typeof answer>>[] = [];
  while (all.length < count) all.push(await answer(client));
  return all;
}
/** Waits for so many heartbeats of the server. @throws when the stream closes first */
async function heartbeats(client: CoreClient, count: number): Promise<void> {
  const closed = client.closed.then(() => Promise.reject(new Error('the stream was closed')));
  closed.catch(() => {});
  for (let beats = 0; beats < count; beats += 1) await Promise.race([once(client.socket, 'ping'), closed]);
}
describe('the credentials among the connection parameters', () => {
  interface Seen {
    headers: Record<string, string>;
    rawHeaders: string[];
  }
  async function see(client: CoreClient): Promise<Seen> {
    client.send(ask(1, 'calls.headers'));
    return (await answer(client))[1] as Seen;
  }

  it('take the place of those of the handshake; no other header can be given', async () => {
    await using server = await startServer();
    const client = await openClient(`${server.path}?connectionParams=1`, { 'x-own': 'own', authorization: 'Bearer bob' });
    client.send({
      method: 'connectionParams',
      data: { Authorization: 'Bearer ann', 'X-Own': 'given', cookie: 'accessToken=ann' },
    });
    const { headers, rawHeaders } = await see(client);
    expect(rawHeaders).toEqual(['authorization', 'Bearer ann']);
    expect(headers).toMatchObject({ authorization: 'Bearer ann', 'x-own': 'own', 'trpc-accept': 'application/jsonl' });
    expect(headers).not.toHaveProperty('cookie');
  });

  it('may be absent: the headers of the handshake count', async () => {
    await using server = await startServer();
    const { headers, rawHeaders } = await see(await openClient(server.path, { 'X-Own': 'own' }));
    expect(headers['x-own']).toBe('own');
    expect(rawHeaders[rawHeaders.indexOf('X-Own') + 1]).toBe('own');
  });
});

describe('a connection on which nobody has signed in', () => {
  it('is kept open by a call at work, and closed when it is unused afterwards', async () => {
    await using server = await startServer({ heartbeatMs: 500 });
    const client = await openClient(server.path);
    client.send(ask(1, 'calls.wait'));
    await heartbeats(client, 2);
    server.release();
    expect(await answer(client)).toEqual([1, 'released']);
    expect(await client.closed).toEqual([1008, 'nobody has signed in']);
  });

  it('is kept open by each call that succeeds', async () => {
    await using server = await startServer({ heartbeatMs: 500 });
    const client = await openClient(server.path);
    for (let pings = 0; pings < 3; pings += 1) {
      await heartbeats(client, 1);
      client.send(take(pings, pings));
      expect(await answer(client)).toEqual([pings, pings]);
    }
    expect(await client.closed).toEqual([1008, 'nobody has signed in']);
  });

  it('is kept open from the first subscription', async () => {
    await using server = await startServer({ heartbeatMs: 500 });
    const client = await openClient(server.path);
    client.send(ask(1, 'calls.follow', {}, 'subscription'));
    expect(await answers(client, 2)).toEqual([[1, 'started'], [1, 'first']]); // prettier-ignore
    client.send(stop(1));
    expect(await answer(client)).toEqual([1, 'stopped']);
    client.send(take(2, 2));
    expect(await answer(client)).toEqual([2, 2]);
    await heartbeats(client, 3);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });
});

it('the place of a subscription is given back once', async () => {
  await using server = await startServer();
  const client = await openClient(server.path);
  client.send(ask(1, 'calls.twice'));
  expect(await answer(client)).toEqual([1, [1, 0]]);
});

describe('the calls of a second', () => {
  it('beyond fifty are each refused by their id, text or number, and not made', async () => {
    await using server = await startServer();
    const client = await openClient(server.path);
    holdTime();
    const ids = Array.from({ length: 60 }, (_, n) => (n % 2 ? n : `id ${n}`));
    const calls = ids.map((id, n) => take(id, n));
    client.send(calls.slice(0, 20), calls.slice(20, 40), calls.slice(40));
    const all = await answers(client, 60);
    expect(new Set(all.map(([id]) => id))).toEqual(new Set(ids));
    expect(all.filter(([, outcome]) => outcome === 429).map(([id]) => id)).toEqual(ids.slice(server.taken.length));
    expect(server.taken).toEqual(ids.map((_id, n) => n).slice(0, server.taken.length));
    expect(server.taken.length).toBe(50);
  });

  it('in frames of their own are counted too, and those without an id are refused in silence', async () => {
    await using server = await startServer();
    const client = await openClient(server.path);
    holdTime();
    client.send(...Array.from({ length: 60 }, (_, n) => take(n, n)));
    const outcomes = await answers(client, 60);
    expect(outcomes.filter(([, outcome]) => outcome === 429)).toHaveLength(10);
    client.send(take(null, 1), take({}, 2), null as unknown as object, take('last', 3));
    expect(await answer(client)).toEqual(['last', 429]);
  });

  it('that stop subscriptions are made and answered whatever the rate, and do not count where a frame has no others', async () => {
    await using server = await startServer();
    const client = await openClient(server.path);
    client.send(ask('a', 'calls.follow', {}, 'subscription'), ask('b', 'calls.follow', {}, 'subscription'));
    await answers(client, 4);
    const nextSecond = holdTime();
    nextSecond();
    client.send(...Array.from({ length: 150 }, () => stop('none')), [stop('none'), stop('a')], take(1, 1));
    expect(new Set(await answers(client, 2))).toEqual(new Set([['a', 'stopped'], [1, 1]])); // prettier-ignore
    nextSecond();
    client.send(...Array.from({ length: 30 }, (_, n) => [take(n, n), stop('none')]), [take('last', 1), stop('b')]);
    const outcomes = new Map(await answers(client, 32));
    expect([outcomes.get(0), outcomes.get(29), outcomes.get('last'), outcomes.get('b')]).toEqual([0, 429, 429, 'stopped']);
  });

  it('that arrive while the connection closes are not made', async () => {
    await using server = await startServer();
    const client = await openClient(server.path);
    client.send(take(1, 1));
    await answer(client);
    const closing = server.streams.close();
    client.send(take(2, 2));
    await closing;
    await client.closed;
    expect(server.taken).toEqual([1]);
  });
});

describe('the subscriptions of a connection', () => {
  it('wait for their turn, and other calls do not wait for them', async () => {
    let begin = () => {};
    const turn = new Promise<void>((resolve) => (begin = resolve));
    await using server = await startServer({ turn: () => turn });
    const client = await openClient(server.path);
    client.send([ask('a subscription', 'calls.follow', {}, 'subscription'), take('a call', 1)]);
    expect(await answer(client)).toEqual(['a call', 1]);
    client.send(take('another', 2));
    expect(await answer(client)).toEqual(['another', 2]);
    begin();
    expect(await answers(client, 2)).toEqual([['a subscription', 'started'], ['a subscription', 'first']]); // prettier-ignore
  });
});

describe('the access of a connection', () => {
  it('is watched once for a session, until the connection closes', async () => {
    await using server = await startServer();
    const both = { authorization: 'Bearer ann', cookie: 'accessToken=ann', origin: 'https://app.example.org' };
    const client = await openClient(server.path, both);
    client.send(ask(1, 'calls.who'), ask(2, 'cookies.who'));
    expect(new Map(await answers(client, 2))).toEqual(new Map([[1, 'ann'], [2, 'ann']])); // prettier-ignore
    expect(server.verifications()).toBeGreaterThan(1);
    expect(server.watched.length).toBe(1);
    client.socket.close();
    await client.closed;
    await expect.poll(() => server.watched.length).toBe(0);
  });

  it('is not watched where the connection closes before it is verified', async () => {
    let verify = () => {};
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    let verified: Promise<unknown> | undefined;
    await using server = await startServer({
      verify: (own) => (token) => {
        asked();
        const access = new Promise<void>((resolve) => (verify = resolve)).then(() => own(token));
        verified = access;
        return access;
      },
    });
    const client = await openClient(server.path, { authorization: 'Bearer ann' });
    client.send(ask(1, 'calls.who'));
    await isAsked;
    client.socket.close();
    await client.closed;
    await expect.poll(() => server.streams.state().open).toBe(0);
    verify();
    await verified;
    await new Promise((next) => setImmediate(next));
    expect(server.watched).toEqual([]);
  });
});
