import { startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recoverUnit, sendToDying } from '../../test/dying-unit.js';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import type { Product } from './products.schemas.js';

let app: TestServer;
let admin: Person;
beforeAll(async () => {
  app = await startTestServer();
  admin = await app.signUpAdmin();
});
afterAll(() => app.close());

/** Two products, the first with two variants; by an admin whose token is of this hour. */
async function prepare() {
  admin = await app.signIn(admin.email);
  const two = ['Lamp', 'Table'].map((name) => ({ name, description: '' }));
  const products = await admin.rest('POST', '/products/batch', two).expect<Product[]>(201);
  const ids = products.map(({ id }) => id);
  const bulk = `/product/${ids[0]}/variants/bulk`;
  const variants = await admin.rest('POST', bulk, [{ title: 'Red' }, { title: 'Blue' }]).expect<ProductVariant[]>(201);
  return { ids, bulk, list: `/products/${ids[0]}/variants`, variantIds: variants.map(({ id }) => id) };
}
const listed = async (path: string) => (await admin.rest('GET', path).expect<{ data: ProductVariant[] }>(200)).data;

describe('a process that is killed between two writes', { timeout: 60_000 }, () => {
  it.each([0, 1])('of a bulk create leaves what the sweep takes back: step %i', async (step) => {
    const { bulk, list } = await prepare();
    const body = [{ title: 'Green' }, { title: 'White' }];
    await sendToDying(app, 'insert product variants', step, { method: 'POST', path: bulk, body, ...admin });
    await recoverUnit(app);
    expect((await listed(list)).map(({ title }) => title).sort()).toEqual(['Blue', 'Red']);
  });

  it.each([0, 1])('of a bulk change leaves what the sweep completes: step %i', async (step) => {
    const { bulk, list, variantIds } = await prepare();
    const body = { ids: variantIds, data: { sku: 'S-1' } };
    await sendToDying(app, 'update product variants', step, { method: 'PATCH', path: bulk, body, ...admin });
    await recoverUnit(app);
    expect((await listed(list)).map(({ sku }) => sku)).toEqual(['S-1', 'S-1']);
  });

  it.each([0, 1, 2])('of the deletion of products leaves what the sweep completes: step %i', async (step) => {
    const { ids, variantIds } = await prepare();
    await sendToDying(app, 'delete products', step, { method: 'DELETE', path: '/products/batch', body: ids, ...admin });
    await recoverUnit(app);
    for (const id of ids) await admin.rest('GET', `/products/${id}`).expect(404);
    // the variants went with it, and come back with it
    await admin.rest('POST', `/products/${ids[0]}/restore`).expect(200);
    expect((await listed(`/products/${ids[0]}/variants`)).map(({ id }) => id).sort()).toEqual(variantIds.toSorted());
  });

  it.each([0, 1, 2])('of the restoring of a product leaves what the sweep completes: step %i', async (step) => {
    const { ids, list } = await prepare();
    await admin.rest('DELETE', `/products/${ids[0]}`).expect(204);
    await sendToDying(app, 'restore product', step, { method: 'POST', path: `/products/${ids[0]}/restore`, ...admin });
    await recoverUnit(app);
    expect(await listed(list)).toHaveLength(2);
  });
});
