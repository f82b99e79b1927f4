import { PATIENCE, fixture, holdTime, openStream, startTestServer, type TestStream } from '@tandem/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { answersTo, query, stop, subscription } from '../../test/trpc-calls.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());

/** Streams that a test has opened. */
const opened: TestStream[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const stream of opened.splice(0)) await stream.close();
  // what is open counts for the next test
  await vi.waitUntil(() => app.tandem.facts.places.total().connections === 0, PATIENCE);
});

async function listen(path = '/trpc'): Promise<TestStream> {
  const stream = await openStream(app.url, path, ann.credentials);
  opened.push(stream);
  return stream;
}

describe.each([
  { path: '/messages/listen', frame: () => ({ type: 'ping' }) },
  { path: '/trpc', frame: query },
])('frames at $path', ({ path, frame }) => {
  const isRefusal = ({ type, error }: TestStream['frames'][number]) => type === 'error' || error !== undefined;
  const sized = (bytes: number) => JSON.stringify(frame()).padEnd(bytes);

  it.each([
    { bytes: 4096, accepted: 50, read: 100 },
    { bytes: 4097, accepted: 25, read: 50 },
    { bytes: 65_536, accepted: 3, read: 7 },
  ])('count once for each 4 KiB: of $bytes bytes $accepted are accepted, and $read read', async ({ bytes, accepted, read }) => {
    const stream = await listen(path);
    holdTime();
    const parsing = vi.spyOn(JSON, 'parse');
    for (let n = 0; n < read; n++) stream.send(sized(bytes));
    const answers = () => stream.frames.filter(({ type }) => type !== 'ready').map((answer) => isRefusal(answer));
    await expect.poll(() => answers().length, PATIENCE).toBe(read);
    expect(answers().filter((isRefused) => !isRefused)).toHaveLength(accepted);
    for (let n = 0; n < 5; n++) stream.send(sized(bytes));
    expect(await stream.closed).toEqual({ code: 1008, reason: 'too many frames' });
    expect(parsing.mock.calls.filter(([text]) => text.length === bytes)).toHaveLength(read);
  });

  it('close each connection that goes on when its caller has sent twice two hundred', async () => {
    const streams = await Promise.all(Array.from({ length: 10 }, () => listen(path)));
    holdTime();
    for (const stream of streams.slice(0, 8)) for (let n = 0; n < 50; n++) stream.send(frame());
    const refusals = () => streams.flatMap(({ frames }) => frames.filter(isRefusal)).length;
    await expect.poll(refusals, PATIENCE).toBe(200);
    for (const stream of streams) expect(stream.socket.readyState).toBe(stream.socket.OPEN);
    for (const stream of streams) stream.send(frame());
    for (const stream of streams) expect(await stream.closed).toEqual({ code: 1008, reason: 'too many frames' });
  });
});

describe('calls in frames at /trpc', () => {
  /** A socket while time stands still for whoever counts what comes in a second. */
  async function listenAtOnce(): Promise<TestStream> {
    const stream = await listen();
    holdTime();
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
    const stream = await listen();
    const nextSecond = holdTime();
    const calls = [batch(20), batch(20), batch(20), [{ ...query(), params: { path: 'nowhere' } }]];
    for (const frame of calls) stream.send(frame);
    await expect.poll(() => statusesOf(stream), PATIENCE).toEqual({ answered: 50, refused: 11 });
    expect(new Set(stream.frames.map(({ id }) => id))).toEqual(new Set(calls.flat().map(({ id }) => id)));
    expect(stream.frames.find(({ error }) => error !== undefined)).toMatchObject({
      error: { message: 'Too many requests', data: { code: 'TOO_MANY_REQUESTS', httpStatus: 429 } },
    });
    nextSecond();
    stream.send(query());
    await expect.poll(() => statusesOf(stream), PATIENCE).toEqual({ answered: 51, refused: 11 });
  });

  it('are two hundred a second by all connections of one caller together', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => listen()));
    const nextSecond = holdTime();
    for (const stream of streams) for (const size of [20, 20, 10]) stream.send(batch(size));
    const total = (key: 'answered' | 'refused') => streams.reduce((sum, stream) => sum + statusesOf(stream)[key], 0);
    await expect.poll(() => [total('answered'), total('refused')], PATIENCE).toEqual([200, 50]);
    nextSecond();
    for (const stream of streams) stream.send(query());
    await expect.poll(() => [total('answered'), total('refused')], PATIENCE).toEqual([205, 50]);
  });

  it('that stop subscriptions on a connection beyond its rate give its caller nothing back', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => listen()));
    holdTime();
    const [stopping] = streams as [TestStream];
    for (let n = 0; n < 60; n++) stopping.send(query());
    for (let n = 0; n < 500; n++) stopping.send(stop(10_000 + n));
    await expect.poll(() => statusesOf(stopping), PATIENCE).toMatchObject({ answered: 50, refused: 10 });
    for (const stream of streams.slice(1)) for (const size of [20, 20, 10]) stream.send(batch(size));
    const answered = () => streams.reduce((sum, stream) => sum + statusesOf(stream).answered, 0);
    await expect.poll(() => streams.reduce((sum, { frames }) => sum + frames.length, 0), PATIENCE).toBe(310);
    expect(answered()).toBe(200);
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
    for (let n = 0; n < 500; n++) stream.send(stop(10_000 + n));
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
