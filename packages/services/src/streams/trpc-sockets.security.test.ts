import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergeRouters, publicProcedure, router } from '@tandem/core';
import {
  PATIENCE,
  fixture,
  openStream,
  refusalOf,
  startTestServer,
  type Credentials,
  type Person,
  type TestStream,
} from '@tandem/testing';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { answersTo, query, stop, subscription } from '../../test/trpc-calls.js';

const MOST = 100;
const TOO_MANY = { status: 429, headers: { 'retry-after': '10' }, body: { error: { message: 'Too many requests' } } };

const app = fixture(() => startTestServer({ trustProxy: true }));
const impatient = fixture(() => startTestServer({ clock: app.clock, code: { heartbeatMs: 300 } }));

const from = (address: string): Credentials => ({ headers: { 'x-forwarded-for': address } });
const by = ({ accessToken }: Person): Credentials => ({ accessToken });
const unreadOf = ({ id }: Person) => ({ path: 'notifications.unreadCount', input: { identityId: id } });

/** Opens so many sockets at once, of which some may be refused. */
async function openMany(count: number, credentials: Credentials): Promise<TestStream[]> {
  const opened = await Promise.allSettled(Array.from({ length: count }, () => openStream(app.url, '/trpc', credentials)));
  return opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
const closeAll = (streams: TestStream[]) => Promise.all(streams.map((stream) => stream.close()));

let lastId = 0;
/** Calls a query, and gives the status that it is answered by. */
async function statusOf({ send, frames }: TestStream, params: { path: string; input: object }): Promise<number> {
  const id = ++lastId;
  send({ id, method: 'query', params });
  await expect.poll(() => frames.map((frame) => frame['id']), PATIENCE).toContain(id);
  const { error } = frames.find((frame) => frame['id'] === id) as { error?: { data: { httpStatus: number } } };
  return error?.data.httpStatus ?? 200;
}

describe('sockets at /trpc on which nobody has signed in', () => {
  it.each([
    ['an IPv4 address', '203.0.113.7', '203.0.113.7'],
    ['a /64 network of IPv6', '2001:db8:1:2::3', '2001:db8:1:2:3:4:5:6'],
  ])('are at most a hundred of %s, also when they come at once', async (_name, address, neighbour) => {
    const streams = await openMany(MOST + 20, from(address));
    expect(streams).toHaveLength(MOST);
    expect(await refusalOf(app.url, '/trpc', from(neighbour))).toMatchObject(TOO_MANY);
    await closeAll(await openMany(1, from('203.0.113.8')));
    await streams.pop()?.close();
    await expect.poll(async () => streams.push(...(await openMany(1, from(neighbour)))), PATIENCE).toBe(MOST);
    await closeAll(streams);
  });

  it('leave room to who signs in elsewhere', async () => {
    const ann = await app.signUp();
    const streams = await openMany(MOST, {});
    await using stream = await openStream(app.url, '/notifications/listen', ann.credentials);
    expect(await stream.next('ready')).toEqual({ type: 'ready', unread: 0 });
    await closeAll(streams);
  });

  it('become their identity’s by the first call, which has a hundred of all kinds', async () => {
    const ann = await app.signUp();
    const streams = await openMany(MOST, by(ann));
    expect(await Promise.all(streams.map((stream) => statusOf(stream, unreadOf(ann))))).toEqual(streams.map(() => 200));
    const [more] = (await openMany(1, by(ann))) as [TestStream];
    expect(await statusOf(more, unreadOf(ann))).toBe(429);
    expect(await refusalOf(app.url, '/notifications/listen', ann.credentials)).toMatchObject(TOO_MANY);
    // it is tried again with each call
    await streams.pop()?.close();
    await expect.poll(() => statusOf(more, unreadOf(ann)), PATIENCE).toBe(200);
    await closeAll([...streams, more]);
    await using stream = await openStream(app.url, '/notifications/listen', ann.credentials);
    await stream.next('ready');
  });

  it('are closed when no call has succeeded on them from one heartbeat to the next', async () => {
    const ann = await app.signUp();
    const [silent, talking, calling, signedIn] = (await Promise.all(
      [{}, {}, {}, by(ann)].map((credentials) => openStream(impatient.url, '/trpc', credentials)),
    )) as [TestStream, TestStream, TestStream, TestStream];
    await statusOf(signedIn, unreadOf(ann));
    talking.socket.on('ping', () => {
      for (const text of ['PONG', '{', '{"id":1,"method":"query","params":{"path":"identities.list"}}']) talking.send(text);
    });
    calling.socket.on('ping', () => calling.send({ id: 0, method: 'query', params: { path: 'categories.list', input: {} } }));
    const unused = { code: 1008, reason: 'nobody has signed in' };
    expect(await Promise.all([silent.closed, talking.closed])).toEqual([unused, unused]);
    for (let beat = 0; beat < 3; beat++) await new Promise((resolve) => calling.socket.once('ping', resolve));
    expect(await statusOf(signedIn, unreadOf(ann))).toBe(200);
    expect(await statusOf(calling, { path: 'categories.list', input: {} })).toBe(200);
    await closeAll([calling, signedIn]);
  });

  it('stay open while a subscription of a host is read by them, which nobody has to sign in for', async () => {
    const { tandem } = impatient;
    const ticks = publicProcedure.subscription(async function* ({ signal }) {
      yield 'tick';
      if (signal) await once(signal, 'abort');
    });
    const host = express().use(tandem.routes(mergeRouters(tandem.router, router({ clock: router({ ticks }) }))));
    const server = http.createServer(host).on('upgrade', tandem.handleUpgrades(host)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [reading, silent] = [await openStream(url, '/trpc'), await openStream(url, '/trpc')];
    reading.send({ id: 1, method: 'subscription', params: { path: 'clock.ticks' } });
    expect(await silent.closed).toMatchObject({ code: 1008 });
    for (let beat = 0; beat < 2; beat++) await new Promise((resolve) => reading.socket.once('ping', resolve));
    expect(reading.frames).toMatchObject([{ result: { type: 'started' } }, { result: { data: 'tick' } }]);
    await reading.close();
    server.close();
  });
});

describe('a frame at /trpc', () => {
  it('carries twenty calls at most', async () => {
    await using stream = await openStream(app.url, '/trpc');
    const calls = (count: number) =>
      Array.from({ length: count }, (_, id) => ({
        id: `${count}-${id}`,
        method: 'query',
        params: { path: 'categories.list', input: {} },
      }));
    stream.send(calls(20));
    await expect.poll(() => stream.frames.filter(({ result }) => result !== undefined).length, PATIENCE).toBe(20);
    stream.send(calls(21));
    await expect.poll(() => stream.frames.filter(({ error }) => error !== undefined).length, PATIENCE).toBe(21);
    expect(stream.frames.at(-1)).toMatchObject({
      error: { message: 'Validation Error', data: { httpStatus: 400, data: ['request must be a valid tRPC call'] } },
    });
    expect(stream.frames).toHaveLength(41);
  });

  it('stops any number of subscriptions, and also where it carries too many calls', async () => {
    const ann = await app.signUp();
    const { id: channelId } = await openChannel(ann);
    await using stream = await openStream(app.url, '/trpc', by(ann));
    const others = Array.from({ length: 30 }, (_, n) => stop(10_000 + n));
    const calls = Array.from({ length: 21 }, query);
    for (const beside of [others, [...calls, ...others]]) {
      const call = subscription(channelId);
      stream.send(call);
      await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('data');
      stream.send([...beside, stop(call.id)]);
      await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('stopped');
    }
    expect(calls.flatMap(({ id }) => answersTo(stream, id))).toEqual(calls.map(() => 400));
  });

  it.each([
    ['calls', {}],
    ['stops', { id: null, method: 'subscription.stop' }],
  ])('is answered once for all its %s without an id', async (_, call) => {
    const ann = await app.signUp();
    await using stream = await openStream(app.url, '/trpc', by(ann));
    stream.send(Array.from({ length: 30 }, () => call));
    const last = query();
    stream.send(last);
    await expect.poll(() => answersTo(stream, last.id), PATIENCE).toHaveLength(1);
    expect(stream.frames.filter(({ id }) => id === null)).toMatchObject([{ error: { data: { httpStatus: 400 } } }]);
  });
});
