import { randomUUID } from 'node:crypto';
import { LIMITS } from '@tandem/list-query';
import { databaseOf, fixture, startStoreProxy, startTestServer } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { categoryModel } from '../categories/category.model.js';
import { productModel } from '../products/product.model.js';

const ROWS = 100;
const ROW_BYTES = 15_000;
const BATCH_BYTES = 4 * 1024 * 1024;

const proxy = fixture(() => startStoreProxy(databaseOf('batches')));
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
beforeAll(async () => {
  const text = '語'.repeat(ROW_BYTES / 3);
  const categories = Array.from({ length: 3 }, (_, n) => ({ name: `No. ${n}`, description: text }));
  const ids = (await app.storage.model(categoryModel).create(categories)).map(({ _id }) => _id);
  const store = (name: string, description: string, categoryIds: string[]) =>
    app.storage
      .model(productModel)
      .insertMany(Array.from({ length: ROWS }, () => ({ _id: randomUUID(), name, description, categoryIds })));
  await store('large', text, []);
  await store('related', '', ids.slice(0, 1));
  await store('refused', '', ids);
});

const LARGE = { name: 'large', $top: ROWS };
const RELATED = { name: 'related', $top: ROWS, $expand: 'categories' };
const REFUSED = { name: 'refused', $top: ROWS, $expand: 'categories' };
const TOO_MUCH = '400 batch gives too much';

/** What the calls of one batch are answered: a number of rows, or what is wrong with them. */
const answersTo = (...queries: object[]) => answersOf('products.list', queries, ({ count }) => count);

type Data = { count: number; categories: unknown[] };
type Answer = { result?: { data: Data }; error?: { data: { httpStatus: number; data: string[] } } };

async function answersOf(procedure: string, queries: object[], of: (data: Data) => number): Promise<(number | string)[]> {
  const input = encodeURIComponent(JSON.stringify(Object.fromEntries(queries.entries())));
  const response = await fetch(`${app.url}/trpc/${queries.map(() => procedure).join(',')}?batch=1&input=${input}`);
  return ((await response.json()) as Answer[]).map(({ result, error }) =>
    result ? of(result.data) : `${error?.data.httpStatus} ${error?.data.data.join()}`,
  );
}

it.each([
  ['rows', LARGE],
  ['related records', RELATED],
])('a batch gives lists of many bytes of %s until they have reached 4 MiB, and the others read nothing', async (_, query) => {
  const given = Math.ceil(BATCH_BYTES / (ROWS * ROW_BYTES));
  const reads = () => proxy.commands.filter(({ collection }) => collection === 'products').length;
  const before = reads();
  expect(await answersTo(...Array<object>(given).fill(query))).toEqual(Array(given).fill(ROWS));
  const after = reads();
  const answers = await answersTo(...Array<object>(given + 3).fill(query));
  expect(answers).toEqual([...Array<number>(given).fill(ROWS), ...Array<string>(3).fill(TOO_MUCH)]);
  expect(reads() - after).toBeLessThanOrEqual(after - before);
});

it('a batch gives single reads with related records until they have reached 4 MiB, and reads none for the others', async () => {
  const each = 10;
  const description = '語'.repeat(50_000);
  const categories = await app.storage
    .model(categoryModel)
    .create(Array.from({ length: each }, (_, n) => ({ name: `Large ${n}`, description })));
  const categoryIds = categories.map(({ _id }) => _id);
  const { _id: productId } = await app.storage.model(productModel).create({ name: 'One', description: '', categoryIds });
  const given = Math.ceil(BATCH_BYTES / (each * Buffer.byteLength(description)));
  const reads = () => proxy.commands.filter(({ collection }) => collection === 'categories').length;
  const ask = (count: number) =>
    answersOf(
      'products.get',
      Array.from({ length: count }, () => ({ productId, $expand: 'categories' })),
      (data) => data.categories.length,
    );
  const before = reads();
  expect(await ask(given)).toEqual(Array(given).fill(each));
  const after = reads();
  expect(after - before).toBeGreaterThan(0);
  // which of them come first is open
  const answers = await ask(given + 3);
  expect([answers.filter((one) => one === each).length, answers.filter((one) => one === TOO_MUCH).length]).toEqual([given, 3]);
  expect(reads() - after).toBe(after - before);
});

it('a list that is refused takes nothing from the others of its batch', async () => {
  const tooMuch = "400 query parameter '$expand' gives too much";
  expect(3 * ROWS * ROW_BYTES).toBeGreaterThan(LIMITS.expandBytes);
  expect(await answersTo(REFUSED, LARGE, REFUSED, RELATED, LARGE, LARGE)).toEqual([tooMuch, ROWS, tooMuch, ROWS, ROWS, TOO_MUCH]);
});

it('requests by themselves have as much as one answer each', async () => {
  for (let n = 0; n < 4; n++)
    for (const query of [LARGE, RELATED])
      expect(
        (await app.rest('GET', `/products?${new URLSearchParams({ ...query, $top: String(ROWS) }).toString()}`)).status,
      ).toBe(200);
});
