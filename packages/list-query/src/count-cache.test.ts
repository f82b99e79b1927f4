import type { Collection } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { keyOf } from './canonical.js';
import { createCountCache, createGate, runListQuery, type CountCache, type Gate } from './index.js';

/** A fixed time. */
const now = (): number => 0;

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Takes long enough to be cached. */
async function slowly(total: number): Promise<number> {
  const end = performance.now() + 6;
  while (performance.now() < end) await settled();
  return total;
}

it('caches a slow count for five seconds', async () => {
  let time = 0;
  const cache = createCountCache({ now: () => time });
  expect(await cache.count('a', 'key', () => slowly(1))).toBe(1);
  time = 4999;
  expect(await cache.count('a', 'key', () => slowly(2))).toBe(1);
  expect(await cache.count('a', 'other key', () => slowly(3))).toBe(3);
  expect(await cache.count('b', 'key', () => slowly(4))).toBe(4);
  time = 5000;
  expect(await cache.count('a', 'key', () => slowly(5))).toBe(5);
});

it('makes a shared count again shortly before it expires, and serves the cached one meanwhile', async () => {
  let time = 0;
  const cache = createCountCache({ now: () => time });
  const renewals: ((total: Promise<number>) => void)[] = [];
  const ask = () => cache.count('a', 'key', () => new Promise((resolve) => renewals.push(resolve)), true);
  const rest = async (total: Promise<number>) => {
    renewals.shift()?.(total);
    await total.catch(() => undefined);
    await settled();
  };
  await cache.count('a', 'key', () => slowly(1));
  time = 3999;
  expect([await ask(), renewals.length]).toEqual([1, 0]);
  time = 4000;
  expect([await cache.count('a', 'key', () => slowly(0)), renewals.length]).toEqual([1, 0]);
  expect([await ask(), await ask(), renewals.length]).toEqual([1, 1, 1]);
  await rest(Promise.reject(new Error('away')));
  expect([await ask(), renewals.length]).toEqual([1, 1]);
  await rest(slowly(2));
  time = 8999;
  expect([await ask(), renewals.length]).toEqual([2, 1]);
  cache.drop('a');
  const behind = cache.count('a', 'key', () => slowly(4));
  await rest(slowly(3));
  expect([await behind, await cache.count('a', 'key', () => slowly(5))]).toEqual([4, 4]);
});

it('gives the count in progress to who asks after the cached one has expired', async () => {
  let time = 0;
  const cache = createCountCache({ now: () => time });
  await cache.count('a', 'key', () => slowly(1));
  time = 4500;
  await cache.count('a', 'key', () => slowly(2), true);
  time = 5000;
  expect(await cache.count('a', 'key', () => slowly(3), true)).toBe(2);
});

it('does not keep a renewed count that was fast to make', async () => {
  let time = 0;
  const cache = createCountCache({ now: () => time, slowMs: 20 });
  await cache.count('a', 'key', () =>
    slowly(1)
      .then(() => slowly(1))
      .then(() => slowly(1))
      .then(() => slowly(1)),
  );
  time = 4500;
  expect(await cache.count('a', 'key', () => Promise.resolve(2), true)).toBe(1);
  await settled();
  expect(await cache.count('a', 'key', () => Promise.resolve(3))).toBe(3);
});

it('caches none for longer because the clock was set back', async () => {
  let time = 3_600_000;
  const cache = createCountCache({ now: () => time });
  await cache.count('a', 'key', () => slowly(1));
  time = 0;
  expect(await cache.count('a', 'key', () => slowly(2))).toBe(2);
});

it('does not cache a fast count', async () => {
  const cache = createCountCache({ slowMs: 60_000 });
  expect(await cache.count('a', 'key', () => slowly(1))).toBe(1);
  expect(await cache.count('a', 'key', () => slowly(2))).toBe(2);
});

it('is dropped by a write, also while it is in progress', async () => {
  const cache = createCountCache({ now });
  await cache.count('a', 'key', () => slowly(1));
  await cache.count('b', 'key', () => slowly(1));
  cache.drop('a');
  const during = cache.count('a', 'key', () => slowly(2));
  cache.drop('a');
  const behind = cache.count('a', 'key', () => slowly(3));
  expect(await Promise.all([during, behind])).toEqual([2, 3]);
  expect(await cache.count('a', 'key', () => slowly(4))).toBe(3);
  expect(await cache.count('b', 'key', () => slowly(5))).toBe(1);
});

it('counts once for concurrent callers', async () => {
  const cache = createCountCache({ now });
  let counts = 0;
  const ask = () =>
    cache.count('a', 'key', () => {
      counts += 1;
      return slowly(7);
    });
  expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(Array(20).fill(7));
  expect(counts).toBe(1);
});

it('caches no failure, and no more than its size', async () => {
  const cache = createCountCache({ now, size: 2 });
  await expect(cache.count('a', '1', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  for (const key of ['1', '2', '3']) await cache.count('a', key, () => slowly(Number(key)));
  for (const key of ['2', '3']) expect(await cache.count('a', key, () => slowly(0))).toBe(Number(key));
  expect(await cache.count('a', '1', () => slowly(0))).toBe(0);
  for (const group of ['b', 'c']) await cache.count(group, '1', () => slowly(1));
  for (const group of ['b', 'c']) expect(await cache.count(group, '1', () => slowly(0))).toBe(1);
  expect(await cache.count('a', '1', () => slowly(2))).toBe(2);
});

it.each<[string, () => Promise<number>]>([
  ['ends', () => Promise.resolve(1)],
  ['fails', () => Promise.reject(new Error('away'))],
])('keeps a count in progress, even when an older one that it replaced %s with', async (_, end) => {
  const cache = createCountCache({ now, size: 1 });
  const older = cache.count('a', '1', () => settled().then(end));
  void cache.count('a', '2', () => slowly(2));
  const newer = cache.count('a', '1', () => slowly(3));
  await older.catch(() => undefined);
  expect(await Promise.all([newer, cache.count('a', '1', () => slowly(4))])).toEqual([3, 3]);
});

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', productDocuments(40));
});

it('serves the totals of a list: only those of the same filter and scope, until a write', async () => {
  const countCache = createCountCache({ now, slowMs: 0 });
  const totalOf = async (filter: string, scope = {}) =>
    (await runListQuery(products, [['$filter', filter]], { collection, scope, countCache })).total;
  const drafts = await totalOf("status eq 'draft'");
  const scoped = await totalOf("status eq 'draft'", { stock: { $lt: 6 } });
  expect(scoped).toBeLessThan(drafts);
  await collection.insertOne({ _id: 'new', status: 'draft', stock: 1 });
  expect([await totalOf("status eq 'draft'"), await totalOf("status  eq 'draft'", { stock: { $lt: 6 } })]).toEqual([
    drafts,
    scoped,
  ]);
  expect(await totalOf("status in ('draft')")).toBe(drafts + 1);
  countCache.drop('products');
  expect([await totalOf("status eq 'draft'"), await totalOf("status eq 'draft'", { stock: { $lt: 6 } })]).toEqual([drafts + 1, scoped + 1]); // prettier-ignore
});

it('remembers which counts were large, whatever is written meanwhile', async () => {
  const cache = createCountCache({ now });
  await cache.count('a', 'many', () => Promise.resolve(10_001));
  await cache.count('a', 'few', () => Promise.resolve(10_000));
  cache.drop('a');
  expect([cache.isLarge('a', 'many'), cache.isLarge('a', 'few'), cache.isLarge('b', 'many')]).toEqual([true, false, false]);
  await cache.count('a', 'many', () => Promise.resolve(3));
  expect(cache.isLarge('a', 'many')).toBe(false);
  const during = cache.count('a', 'many', () => Promise.resolve(10_001));
  cache.drop('a');
  await during;
  expect(cache.isLarge('a', 'many')).toBe(true);
});

it('remembers that a count was large, even when another has taken its place meanwhile', async () => {
  const cache = createCountCache({ now, size: 1 });
  const many = cache.count('a', 'many', () => settled().then(() => 10_001));
  void cache.count('a', 'other', () => slowly(1));
  await many;
  expect(cache.isLarge('a', 'many')).toBe(true);
});

it('remembers only the last of them, up to its size', async () => {
  const cache = createCountCache({ now, size: 2, slowMs: Number.POSITIVE_INFINITY });
  for (const key of ['1', '2', '1', '3']) await cache.count('a', key, () => Promise.resolve(10_001));
  expect(['1', '2', '3'].map((key) => cache.isLarge('a', key))).toEqual([true, false, true]);
});

it('counts large totals at the gate, once for all who ask, while the page is read at once', async () => {
  const countCache = createCountCache({ now });
  const key = keyOf({ deletedAt: null });
  await countCache.count('products', key, () => Promise.resolve(10_001));
  const admitted: string[] = [];
  const gate: Gate = (caller, command) => {
    admitted.push(`${caller.isAnonymous} ${caller.key}`);
    return command();
  };
  const options = { collection, countCache, gate, caller: { key: 'ann', isAnonymous: true } };
  const both = await Promise.all([1, 2].map(() => runListQuery(products, [['$top', '1']], options)));
  expect(both.map(({ total, count }) => [total, count])).toEqual([[38, 1], [38, 1]]); // prettier-ignore
  expect(admitted).toEqual([`false count products ${key}`]);
});

it('makes a large total that is often asked for again before it expires', async () => {
  let time = 0;
  const countCache = createCountCache({ now: () => time, slowMs: 0 });
  const key = keyOf({ deletedAt: null });
  await countCache.count('products', key, () => slowly(10_001));
  time = 4500;
  const ask = async () => (await runListQuery(products, [['$top', '1']], { collection, countCache })).total;
  expect(await ask()).toBe(10_001);
  await expect.poll(ask).toBe(await collection.countDocuments({ deletedAt: null }));
});

it('continues a large count for the others when the first caller leaves', async () => {
  const countCache = createCountCache({ now });
  await countCache.count('products', keyOf({ deletedAt: null }), () => Promise.resolve(10_001));
  const gate = createGate({ atOnce: 1 });
  let release = () => {};
  const busy = gate({ key: 'ann', isAnonymous: false }, () => new Promise<void>((resolve) => (release = resolve)));
  const leaving = new AbortController();
  const ask = (more: object) => runListQuery(products, [['$top', '1']], { collection, countCache, gate, ...more });
  const outcomes = Promise.allSettled([ask({ signal: leaving.signal }), ask({})]);
  await settled();
  leaving.abort(new Error('left'));
  release();
  await busy;
  expect((await outcomes)[1]).toMatchObject({ status: 'fulfilled', value: { count: 1, total: await collection.countDocuments({ deletedAt: null }) } }); // prettier-ignore
});

it('counts again for a caller that waited for the count of one that left', async () => {
  const countCache = createCountCache({ now });
  const leaving = new AbortController();
  const options = { collection, countCache, isOnePage: false };
  const [left, stays] = await Promise.allSettled([
    runListQuery(products, [['$filter', 'price gt 1']], { ...options, signal: leaving.signal, gate: leavingGate(leaving) }),
    runListQuery(products, [['$filter', 'price gt 1']], options),
  ]);
  expect(left.status).toBe('rejected');
  expect(stays).toMatchObject({ status: 'fulfilled', value: { total: expect.any(Number) } });
});

/** A gate that lets a command begin, and then makes its caller leave. */
function leavingGate(leaving: AbortController): Gate {
  return (_caller, command) => {
    const running = command();
    leaving.abort(new Error('left'));
    return running;
  };
}

it('keeps counts by short texts, however long the filters', async () => {
  const keys: string[] = [];
  const countCache: CountCache = {
    ...createCountCache({ now }),
    count(_group, key, make) {
      keys.push(key);
      return make();
    },
  };
  for (const name of ['one', 'other'])
    await runListQuery(products, [['$filter', `tolower(name) eq '${name.repeat(500)}'`]], { collection, countCache });
  expect(new Set(keys.map(({ length }) => length))).toEqual(new Set([44]));
  expect(new Set(keys).size).toBe(2);
});
