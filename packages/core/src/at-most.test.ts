import { LRUCache } from 'lru-cache';
import { expect, it } from 'vitest';
import { atMost } from './at-most.js';

it('a cache of at most so many entries forgets the one that was used longest ago', () => {
  const cache = new LRUCache<string, number>(atMost(2));
  cache.set('a', 1).set('b', 2).get('a');
  cache.set('c', 3).set('a', 4);
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([4, undefined, 3]);
});
