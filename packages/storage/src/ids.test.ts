import { expect, it } from 'vitest';
import { testClock } from '../test/storage-fixture.js';
import { idsFrom, newId } from './index.js';

it('ids of one millisecond begin anywhere, so that those of several processes mix', () => {
  const starts = Array.from({ length: 20 }, () => newId(testClock()).slice(14, 23));
  expect(new Set(starts).size).toBeGreaterThan(10);
});

it('ids of one millisecond are all different, and sort in the order of their creation', () => {
  const clock = testClock();
  const ids = Array.from({ length: 1000 }, () => newId(clock));
  expect(new Set(ids).size).toBe(1000);
  expect(ids.toSorted()).toEqual(ids);
});

it('ids made from a first one are the same each time, begin with it, sort in their order, and are nobody else’s', () => {
  const clock = testClock();
  const firsts = Array.from({ length: 100 }, () => newId(clock));
  const all = firsts.map((first) => {
    const [one, again] = [idsFrom(first), idsFrom(first)];
    const ids = Array.from({ length: 100 }, one);
    expect(Array.from({ length: 100 }, again)).toEqual(ids);
    expect(ids[0]).toBe(first);
    expect(ids.toSorted()).toEqual(ids);
    return ids;
  });
  expect(new Set(all.flat()).size).toBe(10_000);
});
