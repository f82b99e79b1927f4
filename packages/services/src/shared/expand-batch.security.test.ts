import { randomUUID } from 'node:crypto';
import { LIMITS } from '@tandem/list-query';
import { startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { categoryModel } from '../categories/category.model.js';
import { productModel } from '../products/product.model.js';

let app: TestServer;
beforeAll(async () => {
  app = await startTestServer();
  const stored = await app.storage.model(categoryModel).create({ name: 'Bread', description: '語'.repeat(5000) });
  const products = Array.from({ length: ROWS }, (_, n) => ({
    _id: randomUUID(),
    name: `Loaf ${n}`,
    description: '',
    categoryIds: [stored._id],
  }));
  await app.storage.model(productModel).insertMany(products);
});
afterAll(() => app.close());

const ROWS = 100;
const BYTES_OF_CATEGORY = 15_000;
const QUERY = { $expand: 'categories', $top: ROWS };

it('a batch gives no more bytes of related records than one answer may have, and the rest of it is refused', async () => {
  const calls = 6;
  // by records, each of the calls might have as many
  const fitting = Math.floor(LIMITS.expandBytes / (ROWS * BYTES_OF_CATEGORY));
  expect(fitting).toBeLessThan(calls);
  const input = encodeURIComponent(JSON.stringify(Object.fromEntries(Array.from({ length: calls }, (_, n) => [n, QUERY]))));
  const answer = await fetch(`${app.url}/trpc/${Array(calls).fill('products.list').join(',')}?batch=1&input=${input}`);
  const answers = (await answer.json()) as { error?: { data: { httpStatus: number; data: string[] } } }[];
  expect(answers.filter(({ error }) => !error)).toHaveLength(fitting);
  const refusal = { httpStatus: 400, data: ["query parameter '$expand' gives too much"] };
  expect(answers.flatMap(({ error }) => (error ? [error.data] : []))).toEqual(
    Array(calls - fitting).fill(expect.objectContaining(refusal)),
  );
});

it('requests by themselves have as much as one answer each', async () => {
  for (let n = 0; n < 4; n++)
    expect((await app.rest('GET', `/products?${new URLSearchParams({ ...QUERY, $top: String(ROWS) }).toString()}`)).status).toBe(
      200,
    );
});
