import { once } from 'node:events';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openClient } from '../../test/core-client.js';
import { startCoreServer, storeAway, type CoreServer } from '../../test/core-server.js';
import {
  PingFrame,
  authenticate,
  createStreamPlaces,
  defineErrors,
  rest,
  publicProcedure,
  router,
  type Stream,
  type StreamHandler,
  type StreamSocket,
} from '../index.js';
import type { Claim } from './stream-server.js';

const errors = defineErrors('rooms', { closed: [409, 'Room is closed'] });
const Echo = z.strictObject({ type: z.literal('echo'), text: z.string().max(300_000), clientId: z.string().optional() });
const Fail = z.strictObject({ type: z.enum(['refused', 'broken', 'away', 'hangs']) });
const Frames = z.discriminatedUnion('type', [PingFrame, Echo, Fail]);
type Frames = z.infer<typeof Frames>;
const gone: StreamSocket[] = [];
const claims: { socket: StreamSocket; claim: Claim }[] = [];

const handler: StreamHandler<Frames> = {
  frames: Frames,
  async handle(socket, frame) {
    await new Promise((next) => setImmediate(next));
    if (frame.type === 'refused') throw errors.closed();
    if (frame.type === 'broken') throw new TypeError('secret "detail"');
    if (frame.type === 'away') throw storeAway();
    if (frame.type === 'hangs') await new Promise(() => {});
    if (frame.type === 'echo') socket.say({ type: 'echoed', text: frame.text });
  },
  failureOf: ({ type }) => `Failed to do ${type}`,
  closed: (socket) => void gone.push(socket),
};

const streams: Stream[] = [
  {
    path: '/rooms',
    async open({ ctx, query }) {
      const access = await authenticate(ctx, 'bearer');
      const expiresAt = query.has('late') ? 1 : access.expiresAt;
      const begin = (socket: StreamSocket) => socket.say({ type: 'begun', query: [...query] });
      return { access: { ...access, expiresAt }, handler, begin };
    },
  },
  {
    path: '/open',
    isShared: true,
    open: () => Promise.resolve({ begin: (socket, _req, claim) => void claims.push({ socket, claim }) }),
  },
];
const app = router({
  open: publicProcedure.meta(rest('GET /open', { summary: 'x', failure: 'Failed' })).output(z.object({ ok: z.boolean() })).query(() => ({ ok: true })), // prettier-ignore
});

const start = (options: Parameters<typeof startCoreServer>[1] = {}) =>
  startCoreServer(app, { streams: () => streams, ...options });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const rooms = ({ url }: CoreServer, query = '') => `${url}/rooms${query}`;

let server: CoreServer;
beforeAll(async () => {
  server = await start({
    facts: { deadlineMs: 100 },
    prepare: (host) =>
      host.use((req, _res, next) => {
        Object.assign(req, { id: 'of the request' });
        next();
      }),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a request for a stream', () => {
  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }; // prettier-ignore
  async function ask(path: string, headers: Record<string, string>): Promise<unknown[]> {
    const request = http.get(server.url + path, { headers });
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject);
      request.on('upgrade', (upgraded, socket) => (socket.destroy(), resolve(upgraded)));
    });
    if (response.statusCode === 101) return [101];
    const body = JSON.parse((await response.toArray()).join('')) as { ok?: true; error?: { message: string; data?: string[] } };
    return [response.statusCode, body.ok ?? body.error?.data?.[0] ?? body.error?.message];
  }
  const malformed = [400, 'request must be a WebSocket handshake of version 13'];
  const rows: [what: string, path: string, headers: Record<string, string>, answer: unknown[]][] = [
    ['is answered 101', '/rooms', { ...handshake, ...bearer('ann') }, [101]],
    ['may write the protocol in another case', '/rooms', { ...handshake, upgrade: 'WebSocket', ...bearer('ann') }, [101]],
    ['is refused like any other request', '/rooms', handshake, [422, 'Missing authorization header']],
    ['needs an upgrade', '/rooms', bearer('ann'), malformed],
    ['needs a WebSocket', '/rooms', { ...handshake, upgrade: 'h2c', ...bearer('ann') }, malformed],
    ['needs version 13', '/rooms', { ...handshake, 'sec-websocket-version': '12', ...bearer('ann') }, malformed],
    ['needs a key of 16 bytes', '/rooms', { ...handshake, 'sec-websocket-key': `x${handshake['sec-websocket-key']}`, ...bearer('ann') }, malformed],
    ['needs nothing after the key', '/rooms', { ...handshake, 'sec-websocket-key': `${handshake['sec-websocket-key']}x`, ...bearer('ann') }, malformed],
    ['to another path is 404', '/none', handshake, [404, 'Not Found']],
    ['to a path in another case is 404', '/Rooms', handshake, [404, 'Not Found']],
    ['to a path with a slash at its end is 404', '/rooms/', handshake, [404, 'Not Found']],
    ['to a shared path is answered 101', '/open', handshake, [101]],
    ['to a shared path without a handshake belongs to another route', '/open', {}, [200, true]],
    ['for another protocol to an ordinary path is answered as an ordinary request', '/trpc/open', { connection: 'Upgrade', upgrade: 'h2c' }, [200, undefined]],
  ]; // prettier-ignore
  it.each(rows)('%s', async (_what, path, headers, answer) => {
    expect(await ask(path, headers)).toEqual(answer);
  });

  it('receives its query, and its answer the id of the request', async () => {
    const client = await openClient(rooms(server, '?a=1&a=2'), bearer('ann'));
    expect(await client.next()).toEqual({ type: 'begun', query: [['a', '1'], ['a', '2']] }); // prettier-ignore
    expect(client.response.headers['x-request-id']).toBe('of the request');
    client.socket.close();
    await client.closed;
  });

  it('is refused beyond the limit of its identity, or of its network', async () => {
    await using limited = await start({ facts: { places: createStreamPlaces({ connections: 1 }) } });
    const opened = await openClient(rooms(limited), bearer('ann'));
    await expect(openClient(rooms(limited), bearer('ann'))).rejects.toThrow('429 Too many requests');
    await openClient(rooms(limited), bearer('bob'));
    await openClient(`${limited.url}/open`);
    await expect(openClient(`${limited.url}/open`)).rejects.toThrow('429 Too many requests');
    opened.socket.close();
    await opened.closed;
    await expect.poll(() => limited.facts.places.total().connections).toBe(2);
    await openClient(rooms(limited), bearer('ann'));
  });
});

describe('a frame', () => {
  async function exchange(frames: (object | string | Buffer)[], answers = frames.length): Promise<unknown[]> {
    const client = await openClient(rooms(server), bearer('ann'));
    await client.next();
    client.send(...frames);
    const all: unknown[] = [];
    while (all.length < answers) all.push(await client.next());
    client.socket.close();
    await client.closed;
    return all;
  }
  const invalid = (problem: string) => ({ type: 'error', message: 'Validation Error', errorCode: 'request.invalid', data: [problem] }); // prettier-ignore
  const rows: [what: string, frame: object | string | Buffer, answer: object][] = [
    ['ping is answered by pong', { type: 'ping' }, { type: 'pong' }],
    ['is worked on', { type: 'echo', text: 'a' }, { type: 'echoed', text: 'a' }],
    ['is text', Buffer.from('{"type":"ping"}'), invalid('frame must be text')],
    ['is JSON', '{', invalid('frame must be valid JSON')],
    ['is an object', '5', invalid('frame must be object')],
    ['is not null', 'null', invalid('frame must be object')],
    ['has a known type', { type: 'sing' }, invalid('frame/type must be equal to one of the allowed values: ping, echo, refused, broken, away, hangs')],
    ['fits its type', { type: 'echo' }, invalid("frame must have required property 'text'")],
    ['that is refused is named in the refusal', { type: 'echo', clientId: 'c', channelId: 'd' }, { ...invalid("frame must have required property 'text'"), data: ["frame must have required property 'text'", "frame must NOT have additional properties: 'channelId'"], clientId: 'c', channelId: 'd' }],
    ['that is refused is not echoed where the name is long or not text', { type: 'echo', text: 'x', clientId: 5, channelId: 'x'.repeat(101) }, { ...invalid(''), data: ['frame/clientId must be string', "frame must NOT have additional properties: 'channelId'"] }],
    ['that fails with a declared error reports it', { type: 'refused' }, { type: 'error', message: 'Room is closed', errorCode: 'rooms.closed' }],
    ['that fails unexpectedly shows no cause', { type: 'broken' }, { type: 'error', message: 'Failed to do broken', errorCode: 'request.unexpected', retry: true }],
    ['that fails because the store is unavailable may be retried', { type: 'away' }, { type: 'error', message: 'Failed to do away', errorCode: 'request.unavailable', retry: true }],
    ['that takes too long may be retried', { type: 'hangs' }, { type: 'error', message: 'Service Unavailable', errorCode: 'request.unavailable', retry: true }],
  ]; // prettier-ignore
  it.each(rows)('%s', async (_what, frame, answer) => {
    expect(await exchange([frame])).toEqual([answer]);
  });

  it('that fails unexpectedly is logged once, without values', async () => {
    server.lines.length = 0;
    await exchange([{ type: 'broken' }, { type: 'refused' }]);
    expect(server.lines).toMatchObject([
      { level: 'error', facts: { err: { message: 'secret …' } }, text: 'unexpected failure in a stream' },
    ]);
  });

  it('waits for the one before it, but a ping does not', async () => {
    const texts = ['a', 'b', 'c'].map((text) => ({ type: 'echo', text }));
    expect(await exchange([...texts, { type: 'ping' }])).toEqual([
      { type: 'pong' },
      ...texts.map(({ text }) => ({ type: 'echoed', text })),
    ]);
  });

  it('beyond fifty a second is refused by name, and a flood closes the stream', async () => {
    const client = await openClient(rooms(server), bearer('ann'));
    await client.next();
    const refusals: Record<string, unknown>[] = [];
    // the second may change in between
    while (refusals.length === 0) {
      client.send(...Array.from({ length: 60 }, (_, n) => ({ type: 'echo', text: 'x', clientId: `c${n}` })));
      for (let n = 0; n < 60; n += 1) {
        const frame = await client.next();
        if (frame['type'] === 'error') refusals.push(frame);
      }
    }
    expect(refusals[0]).toEqual({ type: 'error', message: 'Too many requests', errorCode: 'request.tooMany', retry: true, clientId: expect.stringMatching(/^c5/) as unknown }); // prettier-ignore
    client.send(...Array.from({ length: 300 }, () => ({ type: 'ping' })));
    expect(await client.closed).toEqual([1008, 'too many frames']);
  });

  it('of more than 64 KiB closes the stream', async () => {
    const client = await openClient(rooms(server), bearer('ann'));
    client.send({ type: 'echo', text: 'x'.repeat(65_536) });
    expect((await client.closed)[0]).toBe(1009);
  });
});

describe('a stream', () => {
  it('ends when its session ends, or its token expires', async () => {
    await using own = await start();
    const [ann, bob, again] = await Promise.all(['ann', 'bob', 'ann'].map((token) => openClient(rooms(own), bearer(token))));
    own.ended.add('session of ann');
    own.watch.checkIdentity('ann');
    for (const client of [ann, again]) expect(await client?.closed).toEqual([1008, 'the session has ended']);
    own.ended.add('session of bob');
    own.watch.checkSession('session of bob');
    expect(await bob?.closed).toEqual([1008, 'the session has ended']);
    own.ended.clear();
    const late = await openClient(rooms(own, '?late'), bearer('ann'));
    expect(await late.closed).toEqual([4401, 'the access token has expired']);
    const unheard = await openClient(rooms(own), bearer('ann'));
    own.ended.add('session of ann');
    expect(await unheard.closed).toEqual([1008, 'the session has ended']);
    await expect.poll(() => own.streams.state()).toMatchObject({ open: 0, closed: new Map([[1008, 4], [4401, 1]]) }); // prettier-ignore
    expect(gone.length).toBeGreaterThanOrEqual(5);
  });

  it('counts its traffic, and unknown close codes as 0', async () => {
    await using own = await start();
    const client = await openClient(rooms(own), bearer('ann'));
    await client.next();
    client.send({ type: 'ping' }, { type: 'ping' });
    await client.next();
    await client.next();
    expect(own.streams.state()).toMatchObject({ open: 1, received: 2, sent: 3, closed: new Map() });
    client.socket.close(4000);
    await client.closed;
    await expect.poll(() => own.streams.state()).toMatchObject({ open: 0, closed: new Map([[0, 1]]) });
  });

  it('ends at a restart, and no new one begins', async () => {
    await using own = await start();
    const client = await openClient(rooms(own), bearer('ann'));
    const closing = own.streams.close();
    await expect(openClient(rooms(own), bearer('ann'))).rejects.toThrow('503 Service Unavailable');
    expect(await client.closed).toEqual([1012, 'the server restarts']);
    await closing;
    await own.streams.close();
  });

  it('whose reader is too slow is closed when more than a mebibyte is buffered, and nothing more is sent', async () => {
    await using own = await start();
    const client = await openClient(`${own.url}/open`);
    const { socket } = claims.at(-1) as { socket: StreamSocket };
    client.socket.pause();
    const text = Buffer.from(JSON.stringify('x'.repeat(100_000)));
    let sent = 0;
    while (socket.readyState === socket.OPEN) {
      expect(socket.bufferedAmount).toBeLessThanOrEqual(1024 * 1024 + text.length + 10);
      socket.deliver(text);
      sent += 1;
      await new Promise((next) => setImmediate(next));
    }
    const counted = own.streams.state().sent;
    expect(counted).toBe(sent - 1);
    socket.say({});
    expect(own.streams.state().sent).toBe(counted);
    const drained = socket.drained();
    client.socket.resume();
    await drained;
    expect(await client.closed).toEqual([1013, 'the reader is too slow']);
  });

  it('that answers no ping is dropped, one that answers stays', async () => {
    await using own = await start({ heartbeatMs: 500 });
    const silent = await openClient(rooms(own), bearer('ann'), { autoPong: false });
    const lively = await openClient(rooms(own), bearer('ann'));
    expect((await silent.closed)[0]).toBe(1006);
    for (let pings = 0; pings < 4; pings += 1) await once(lively.socket, 'ping');
    expect(lively.socket.readyState).toBe(lively.socket.OPEN);
  });

  it('without a signed-in identity is closed, unless it is used or claimed', async () => {
    await using own = await start({ heartbeatMs: 500 });
    const unused = await openClient(`${own.url}/open`);
    const claimed = await openClient(`${own.url}/open`);
    const { socket, claim } = claims.at(-1) as (typeof claims)[number];
    claim(socket, 'ann');
    expect([socket.holder, own.facts.places.total().connections]).toEqual(['ann', 2]);
    expect(await unused.closed).toEqual([1008, 'nobody has signed in']);
    expect(claimed.socket.readyState).toBe(claimed.socket.OPEN);
    claimed.socket.close();
    await claimed.closed;
    await expect.poll(() => own.facts.places.total().connections).toBe(0);
    claim(socket, 'bob');
    expect(own.facts.places.total().connections).toBe(0);
  });
});
