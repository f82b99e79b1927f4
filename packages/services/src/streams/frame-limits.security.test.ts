import { openStream, startTestServer, type Person, type TestServer, type TestStream } from '@tandem/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { answersTo, query, stop, subscription } from '../../test/trpc-calls.js';

const PATIENCE = { timeout: 15_000, interval: 20 };

let app: TestServer;
let ann: Person;
beforeAll(async () => {
  app = await startTestServer();
  ann = await app.signUp();
});
afterAll(() => app.close());

/** Streams that a test has opened. */
const opened: TestStream[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const stream of opened.splice(0)) await stream.close();
  // what is open counts for the next test
  await vi.waitUntil(() => app.tandem.facts.places.total().connections === 0, PATIENCE);
});

async function listen(): Promise<TestStream> {
  const stream = await openStream(app.url, '/trpc', ann.credentials);
  opened.push(stream);
  return stream;
}

describe('calls in frames at /trpc', () => {
  /** A socket while time stands still for whoever counts what comes in a second. */
  async function listenAtOnce(): Promise<TestStream> {
    const stream = await listen();
    vi.useFakeTimers({ toFake: ['performance'] });
    return stream;
  }
  const batch = (count: number) => Array.from({ length: count }, query);
  const statusesOf = ({ frames }: TestStream) => {
    const statuses = frames.map((frame) => (frame as { error?: { data: { httpStatus: number } } }).error?.data.httpStatus ?? 200);
    return {
      answered: statuses.filter((status) => status === 200).length,
      refused: statuses.filter((status) => status === 429).length,
    };
  };

  it('count as frames: those beyond fifty a second are 429, each by its id, and the next second begins again', async () => {
    const stream = await listenAtOnce();
    const calls = [batch(20), batch(20), batch(20), [{ ...query(), params: { path: 'nowhere' } }]];
    for (const frame of calls) stream.send(frame);
    await expect.poll(() => statusesOf(stream), PATIENCE).toEqual({ answered: 50, refused: 11 });
    expect(new Set(stream.frames.map(({ id }) => id))).toEqual(new Set(calls.flat().map(({ id }) => id)));
    expect(stream.frames.find(({ error }) => error !== undefined)).toMatchObject({
      error: { message: 'Too many requests', data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429 } },
    });
    vi.advanceTimersByTime(1000);
    stream.send(query());
    await expect.poll(() => statusesOf(stream), PATIENCE).toEqual({ answered: 51, refused: 11 });
  });

  it('are two hundred a second by all connections of one caller together', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => listen()));
    vi.useFakeTimers({ toFake: ['performance'] });
    for (const stream of streams) for (const size of [20, 20, 10]) stream.send(batch(size));
    const total = (key: 'answered' | 'refused') => streams.reduce((sum, stream) => sum + statusesOf(stream)[key], 0);
    await expect.poll(() => [total('answered'), total('refused')], PATIENCE).toEqual([200, 50]);
    vi.advanceTimersByTime(1000);
    for (const stream of streams) stream.send(query());
    await expect.poll(() => [total('answered'), total('refused')], PATIENCE).toEqual([205, 50]);
  });

  it('close the connection of a caller that sends more than twice as many', async () => {
    const stream = await listenAtOnce();
    for (let n = 0; n < 5; n++) stream.send(batch(20));
    await expect.poll(() => statusesOf(stream), PATIENCE).toEqual({ answered: 50, refused: 50 });
    expect(stream.socket.readyState).toBe(stream.socket.OPEN);
    stream.send(batch(20));
    expect(await stream.closed).toEqual({ code: 1008, reason: 'too many frames' });
    expect(stream.frames).toHaveLength(100);
  });

  it('may always stop a subscription', async () => {
    const stream = await listenAtOnce();
    const call = subscription((await openChannel(ann)).id);
    stream.send(call);
    await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('data');
    for (let n = 0; n < 3; n++) stream.send(batch(20));
    stream.send([query(), stop(call.id)]);
    await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('stopped');
  });

  it('may stop all subscriptions of a connection at once', async () => {
    const stream = await listenAtOnce();
    const call = subscription((await openChannel(ann)).id);
    stream.send(call);
    await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('data');
    for (let n = 0; n < 300; n++) stream.send(stop(10_000 + n));
    stream.send(stop(call.id));
    await expect.poll(() => answersTo(stream, call.id), PATIENCE).toContain('stopped');
    expect(stream.socket.readyState).toBe(stream.socket.OPEN);
  });

  it('are no way around the limits: a connection that sends more stops than it may have subscriptions is closed', async () => {
    const stream = await listenAtOnce();
    for (let n = 0; n < 1101; n++) stream.send(stop(10_000 + n));
    expect(await stream.closed).toEqual({ code: 1008, reason: 'too many frames' });
  });
});
