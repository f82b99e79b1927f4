import { createInProcessBus } from '@tandem/core';
import { expect, it } from 'vitest';
import { EVENTS_APPENDED, createEventTail } from './event-tail.js';

const HOUR = 60 * 60_000;
const { signal } = new AbortController();

/** A log that ends with an event, and how often that was looked up. */
function openTail(end: string) {
  const bus = createInProcessBus({ error() {} });
  let looks = 0;
  const beyond = createEventTail(bus, () => Promise.resolve((looks++, end)), HOUR);
  const append = (last?: string) => bus.publish(EVENTS_APPENDED, { last });
  return { beyond, append, looks: () => looks };
}

it('who waits is told of an event by whoever appends it, with no look at the store', async () => {
  const { beyond, append, looks } = openTail('a');
  const waiting = beyond('a', signal);
  await expect.poll(looks).toBe(1);
  append('b');
  expect(await waiting).toBe('b');
  // what came while it read
  append('c');
  expect(await beyond('b', signal)).toBe('c');
  expect(looks()).toBe(1);
});

it('who does not say which event was appended makes readers look', async () => {
  const { beyond, append, looks } = openTail('b');
  expect(await beyond('a', signal)).toBe('b');
  const waiting = beyond('b', signal);
  append();
  await expect.poll(looks).toBe(2);
  append('c');
  expect(await waiting).toBe('c');
});

it('a reader that finds nothing behind what it knows, since the log was set back, waits', async () => {
  const { beyond, append, looks } = openTail('a');
  const first = beyond('a', signal);
  await expect.poll(looks).toBe(1);
  append('z');
  expect(await first).toBe('z');
  expect(await beyond('a', signal)).toBe('z');
  const again = beyond('a', signal);
  await expect.poll(looks).toBe(2);
  append('b');
  expect(await again).toBe('b');
});
