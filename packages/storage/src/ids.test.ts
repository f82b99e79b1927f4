import { expect, it } from 'vitest';
import { testClock } from '../test/storage-fixture.js';
import { newId } from './index.js';

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
