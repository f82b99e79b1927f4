import { FACES, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { categoryModel } from '../categories/category.model.js';
import { productModel } from '../products/product.model.js';

const price = { amount: 1, currency: 'EUR' };

/** A product that is well, and one of each kind that a host wrote wrongly. */
let good: string;
let bad: string[];
let categoryId: string;
const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
beforeAll(async () => {
  const create = async (path: string, body: object) => (await admin.rest('POST', path, body).expect<{ id: string }>(201)).id;
  categoryId = await create('/categories', { name: 'Bread', description: '' });
  const product = { name: 'Loaf', description: '', price, categoryIds: [categoryId] };
  good = await create('/products', product);
  bad = await Promise.all([1, 2, 3, 4].map(() => create('/products', product)));
  const written = [
    { price: 'free' },
    { price: { amount: 100, shown: 1, currency: 'XXX', taxIncluded: null, taxable: null } },
    { name: 7 },
    { createdAt: 'yesterday' },
  ];
  const { collection } = app.storage.model(productModel);
  for (const [n, fields] of written.entries()) await collection.updateOne({ _id: bad[n] } as object, { $set: fields });
}, 60_000);

describe.each(FACES)('over %s, a record that does not fit its schema', (face) => {
  type Rows = { value: { data?: { id: string }[]; value?: { id: string }[] } };
  const idsOf = async (query: Record<string, unknown>) => {
    const { value } = (await app.call(face, 'products.list', query, {})) as Rows;
    return (value.data ?? value.value ?? []).map(({ id }) => id);
  };

  it.each([
    {},
    { $top: 10 },
    { $orderby: 'price.amount desc' },
    { $apply: 'orderby(name) then top(10)' },
    { $expand: 'categories' },
  ])('is left out of the list asked for by %o', async (query) => {
    expect(await idsOf(query)).toEqual([good]);
  });

  it('is 404 to its own read', async () => {
    for (const productId of bad)
      expect(await app.call(face, 'products.get', { productId }, {})).toMatchObject({ ok: false, status: 404 });
    expect(await app.call(face, 'products.get', { productId: good }, {})).toMatchObject({ ok: true });
  });

  it('is null if $expand would include it', async () => {
    const categories = app.storage.model(categoryModel).collection;
    await categories.updateOne({ _id: categoryId } as object, { $set: { description: 5 } });
    const { value } = (await app.call(face, 'products.list', { $expand: 'categories' }, {})) as { value: { data: object[] } };
    expect(value.data).toMatchObject([{ id: good, categories: [null] }]);
    await categories.updateOne({ _id: categoryId } as object, { $set: { description: '' } });
  });
});
