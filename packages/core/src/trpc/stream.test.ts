import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openClient, type CoreClient } from '../../test/core-client.js';
import { startCoreServer, type CoreServer } from '../../test/core-server.js';
import { authenticated, createStreamPlaces, createTrpcStream, publicProcedure, router } from '../index.js';

const ends = new Map<string, () => void>();
const who = z.strictObject({ name: z.string() });
const app = router({
  calls: router({
    who: authenticated.output(z.string()).query(({ ctx }) => ctx.identity.id),
    open: publicProcedure.output(z.string()).query(() => 'open'),
    cookie: publicProcedure.output(z.string()).mutation(({ ctx }) => {
      ctx.setCookie('a', 'b', {});
      ctx.clearCookie('a', {});
      ctx.setHeader('a', 'b');
      return 'done';
    }),
    follow: authenticated.input(who).subscription(async function* follow({ input, signal }) {
      yield 'first';
      await new Promise<void>((end) => {
        ends.set(input.name, end);
        signal?.addEventListener('abort', () => end());
      });
    }),
  }),
  cookies: router({ who: authenticated.output(z.string()).query(({ ctx }) => ctx.identity.id) }),
});

async function start(options: Parameters<typeof startCoreServer>[1] = {}): Promise<CoreServer> {
  return startCoreServer(app, { streams: ({ watch }) => [createTrpcStream(app, watch)], ...options });
}
let server: CoreServer;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A connection with these among its parameters. */
async function connect(data: Record<string, string> = {}, own = server): Promise<CoreClient> {
  const client = await openClient(`${own.url}/trpc?connectionParams=1`);
  client.send({ method: 'connectionParams', data });
  return client;
}
const ask = (id: number, path: string, method = 'query', input: object = {}) => ({ id, method, params: { path, input } });
/** The next answer: its data, or the status and text of its error. */
async function answer(client: CoreClient): Promise<unknown> {
  const { result, error } = (await client.next()) as {
    result?: { type: string; data?: unknown };
    error?: { message: string; data: { httpStatus: number } };
  };
  return error ? [error.data.httpStatus, error.message] : (result?.data ?? result?.type);
}
async function askOne(client: CoreClient, ...call: Parameters<typeof ask>): Promise<unknown> {
  client.send(ask(...call));
  return answer(client);
}

describe('calls over a WebSocket', () => {
  it('are made by the identity of the connection parameters, whatever their case, and by nobody without them', async () => {
    expect(await askOne(await connect({ authorization: 'Bearer ann' }), 1, 'calls.who')).toBe('ann');
    const phone = await connect({ Authorization: 'Bearer phone', 'X-Nb-Fingerprint': 'own' });
    expect(await askOne(phone, 1, 'calls.who')).toBe('phone');
    const nobody = await connect({ other: 'Bearer ann' });
    expect(await askOne(nobody, 1, 'calls.who')).toEqual([422, 'Missing authorization header']);
    expect(await askOne(nobody, 2, 'calls.open')).toBe('open');
    expect(await askOne(nobody, 3, 'calls.cookie', 'mutation')).toBe('done');
  });

  it('may use the header or the cookie of the handshake, from an allowed origin', async () => {
    const byHeader = await openClient(`${server.url}/trpc`, { authorization: 'Bearer ann' });
    expect(await askOne(byHeader, 1, 'calls.who')).toBe('ann');
    const cookie = { cookie: 'accessToken=ann' };
    const byCookie = await openClient(`${server.url}/trpc`, { ...cookie, origin: 'https://app.example.org' });
    expect(await askOne(byCookie, 1, 'cookies.who')).toBe('ann');
    const elsewhere = { origin: 'https://evil.example.org' };
    await expect(openClient(`${server.url}/trpc`, { ...cookie, ...elsewhere })).rejects.toThrow('403 Origin is not allowed');
    await openClient(`${server.url}/trpc`, elsewhere);
  });

  it('verify a token once per connection, unless it was refused for a passing reason', async () => {
    const client = await connect({ authorization: 'Bearer ann' });
    const before = server.verifications();
    for (const id of [1, 2, 3]) expect(await askOne(client, id, 'calls.who')).toBe('ann');
    expect(server.verifications()).toBe(before + 1);
    const away = await connect({ authorization: 'Bearer unreachable' });
    for (const id of [1, 2]) expect(await askOne(away, id, 'calls.who')).toEqual([503, 'Internal Server Error']);
    expect(server.verifications()).toBe(before + 3);
    const refused = await connect({ authorization: 'Bearer nobody' });
    for (const id of [1, 2]) expect(await askOne(refused, id, 'calls.who')).toEqual([401, 'token could not be verified']);
    expect(server.verifications()).toBe(before + 4);
  });

  it('count the connection for the identity from the first accepted call, and close it when the session ends', async () => {
    await using own = await start();
    const client = await connect({ authorization: 'Bearer ann' }, own);
    expect(await askOne(client, 1, 'calls.who')).toBe('ann');
    own.facts.places.checkConnection('ann');
    expect(own.facts.places.total()).toEqual({ connections: 1, subscriptions: 0 });
    own.ended.add('session of ann');
    own.watch.checkSession('session of ann');
    expect(await client.closed).toEqual([1008, 'the session has ended']);
  });

  it('are refused when their identity has too many connections, and only there', async () => {
    await using own = await start({ facts: { places: createStreamPlaces({ connections: 1 }) } });
    const first = await connect({ authorization: 'Bearer ann' }, own);
    expect(await askOne(first, 1, 'calls.who')).toBe('ann');
    const second = await connect({ authorization: 'Bearer ann' }, own);
    expect(await askOne(second, 1, 'calls.who')).toEqual([429, 'Too many requests']);
    expect(await askOne(second, 2, 'calls.open')).toBe('open');
    first.socket.close();
    await first.closed;
    await expect.poll(async () => await askOne(second, 3, 'calls.who')).toBe('ann');
  });

  it('are refused beyond twenty a frame, and beyond fifty a second except stopping a subscription', async () => {
    const client = await connect();
    const many = (count: number, from = 1) => Array.from({ length: count }, (_, n) => ask(from + n, 'calls.open'));
    client.send(many(21));
    for (let n = 0; n < 21; n += 1) expect(await answer(client)).toEqual([400, 'Validation Error']);
    const outcomes: unknown[] = [];
    // the second may change in between
    while (!outcomes.some((outcome) => Array.isArray(outcome))) {
      outcomes.length = 0;
      client.send(many(20), many(20), [...many(19), { id: 7, method: 'subscription.stop' }]);
      for (let n = 0; n < 59; n += 1) outcomes.push(await answer(client));
    }
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(new Set(['"open"', '[429,"Too many requests"]']));
    client.send(many(20), many(20), many(20), many(20), many(20), many(20));
    client.send(many(20), many(20), many(20), many(20), many(20), many(20));
    expect(await client.closed).toEqual([1008, 'too many frames']);
  });
});

describe('a subscription over a WebSocket', () => {
  it('holds a place until it is stopped, ends, or its connection closes, and keeps the connection open', async () => {
    await using own = await start({ heartbeatMs: 500 });
    const places = () => own.facts.places.total();
    const client = await connect({ authorization: 'Bearer ann' }, own);
    const follow = async (id: number, name: string) => {
      expect(await askOne(client, id, 'calls.follow', 'subscription', { name })).toBe('started');
      expect(await answer(client)).toBe('first');
    };
    await follow(1, 'stopped');
    await follow(2, 'ended');
    expect(places()).toEqual({ connections: 1, subscriptions: 2 });
    client.send({ id: 1, method: 'subscription.stop' });
    expect(await answer(client)).toBe('stopped');
    await expect.poll(places).toEqual({ connections: 1, subscriptions: 1 });
    await expect.poll(() => ends.has('ended')).toBe(true);
    ends.get('ended')?.();
    expect(await answer(client)).toBe('stopped');
    await expect.poll(places).toEqual({ connections: 1, subscriptions: 0 });
    await follow(3, 'closed');
    for (let pings = 0; pings < 4; pings += 1) await once(client.socket, 'ping');
    client.socket.close();
    await client.closed;
    await expect.poll(places).toEqual({ connections: 0, subscriptions: 0 });
  });

  it('too many is refused', async () => {
    await using own = await start({ facts: { places: createStreamPlaces({ subscriptionsPerConnection: 1 }) } });
    const client = await connect({ authorization: 'Bearer ann' }, own);
    expect(await askOne(client, 0, 'calls.who')).toBe('ann');
    expect(await askOne(client, 1, 'calls.follow', 'subscription', { name: 'one' })).toBe('started');
    await answer(client);
    expect(await askOne(client, 2, 'calls.follow', 'subscription', { name: 'two' })).toEqual([429, 'Too many requests']);
  });

  it('as server-sent events holds a place until its answer ends', async () => {
    await using own = await start({ facts: { places: createStreamPlaces({ connections: 1 }) } });
    const path = `${own.url}/trpc/calls.follow?input=${encodeURIComponent('{"name":"sse"}')}`;
    const headers = { authorization: 'Bearer ann', accept: 'text/event-stream' };
    const stop = new AbortController();
    const first = await fetch(path, { headers, signal: stop.signal });
    expect(first.status).toBe(200);
    expect(own.facts.places.total()).toEqual({ connections: 1, subscriptions: 1 });
    expect((await fetch(path, { headers })).status).toBe(429);
    stop.abort();
    await expect.poll(() => own.facts.places.total()).toEqual({ connections: 0, subscriptions: 0 });
  });
});
