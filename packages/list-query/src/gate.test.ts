import type { Collection } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { ListTimeLimitError, createGate, runListQuery } from './index.js';

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', productDocuments(20));
});

it('lets so many in at once, first come, first served, also behind work that fails', async () => {
  const gate = createGate({ atOnce: 2 });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3, 4].map((n) =>
    gate(async () => {
      begun.push(n);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (n % 2 === 1) throw new Error(`work ${n}`);
      return n;
    }),
  );
  const outcomes = Promise.allSettled(all);
  for (const wanted of [
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
  ]) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual(wanted);
    ends.shift()?.();
  }
  ends.shift()?.();
  expect((await outcomes).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
});

it('lets nobody wait without end, and goes on afterwards', async () => {
  const gate = createGate({ atOnce: 1, waitMs: 10 });
  let end = (): void => undefined;
  const running = gate(() => new Promise<void>((resolve) => (end = resolve)));
  const waiting = runListQuery(products, [['$apply', 'top(1)']], { collection, gate });
  await expect(waiting).rejects.toThrow(ListTimeLimitError);
  end();
  await running;
  expect((await runListQuery(products, [['$apply', 'top(1)']], { collection, gate })).count).toBe(1);
});

it('holds no list back that transforms nothing', async () => {
  const closed = createGate({ atOnce: 0, waitMs: 10 });
  expect((await runListQuery(products, [['$top', '1']], { collection, gate: closed })).count).toBe(1);
  await expect(runListQuery(products, [['$apply', 'top(1)']], { collection, gate: closed })).rejects.toMatchObject({
    status: 503,
  });
});
