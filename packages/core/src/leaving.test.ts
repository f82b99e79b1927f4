import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Departures, Waiting } from './leaving.js';

async function leave(line: PassThrough): Promise<void> {
  const closed = once(line, 'close');
  line.destroy();
  await closed;
}

describe('the departure of a caller', () => {
  it('is told once to each listener that still listens, by one listener of the line', async () => {
    const line = new PassThrough();
    const before = line.listenerCount('close');
    const departures = new Departures(line);
    const told: string[] = [];
    const [first, second, gone] = ['first', 'second', 'gone'].map((name) => () => void told.push(name)) as [() => void, () => void, () => void]; // prettier-ignore
    for (const listener of [first, gone, second]) departures.add(listener);
    departures.delete(gone);
    expect(line.listenerCount('close')).toBe(before + 1);
    expect(told).toEqual([]);
    await leave(line);
    expect(told).toEqual(['first', 'second']);
  });

  it('is told at once where the caller has already left', async () => {
    const line = new PassThrough();
    await leave(line);
    const told: string[] = [];
    new Departures(line).add(() => told.push('left'));
    expect(told).toEqual(['left']);
  });
});

describe('the signal of a call', () => {
  const unavailable = { status: 503, retryAfter: 2 };

  it('is one, and aborts with a 503 when the caller leaves', async () => {
    const line = new PassThrough();
    const waiting = new Waiting(new Departures(line));
    const { signal } = waiting;
    expect(waiting.signal).toBe(signal);
    expect(signal.aborted).toBe(false);
    await leave(line);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject(unavailable);
  });

  it('aborts when the call is over', () => {
    const waiting = new Waiting(new Departures(new PassThrough()));
    const { signal } = waiting;
    waiting.over();
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject(unavailable);
  });

  it('is aborted from the start where the call was over before', () => {
    const line = new PassThrough();
    const before = line.listenerCount('close');
    const waiting = new Waiting(new Departures(line));
    waiting.over();
    expect(waiting.signal.aborted).toBe(true);
    expect(waiting.signal.reason).toMatchObject(unavailable);
    expect(line.listenerCount('close')).toBe(before);
  });

  it('that nobody asked for leaves no listener', () => {
    const line = new PassThrough();
    const before = line.listenerCount('close');
    new Waiting(new Departures(line)).over();
    expect(line.listenerCount('close')).toBe(before);
  });
});
