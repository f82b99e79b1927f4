import { FACES, OK, failing, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import { productModel } from '../products/product.model.js';
import type { Product } from '../products/products.schemas.js';

const NO_PRODUCT = failing(404, 'Product not found');
const NO_ORGANIZATION = failing(404, 'Organization not found');

/** Two instances of one system. */
const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
let elsewhere: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
  await signIn();
});

/** Anew, where the clock has been moved. */
async function signIn(): Promise<void> {
  [admin, elsewhere] = [await app.signIn(admin.email), await other.signIn(admin.email)];
}
async function found(): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}
const productOf = (organizationId?: string) => ({ name: 'Lamp', description: '', ...(organizationId && { organizationId }) });
async function create(organizationId?: string): Promise<string> {
  return (await admin.rest('POST', '/products', productOf(organizationId)).expect<Product>(201)).id;
}
async function addVariant(productId: string): Promise<string> {
  return (await admin.rest('POST', `/products/${productId}/variants`, { title: 'Red' }).expect<ProductVariant>(201)).id;
}
/** Ids of the products that live. */
async function productsOf(organizationId: string): Promise<string[]> {
  const live = await app.storage.model(productModel).find({ organizationId }, { _id: 1 }).lean();
  return live.map(({ _id }) => _id).toSorted();
}
const variantsOf = async (productId: string) =>
  (await admin.rest('GET', `/products/${productId}/variants`).expect<{ data: ProductVariant[] }>(200)).data.map(({ id }) => id);
/** The requests at once, every other one on the other instance. */
const twenty = <Answer>(request: (person: Person, n: number) => PromiseLike<Answer>) =>
  Promise.all(Array.from({ length: 20 }, (_, n) => request(n % 2 ? elsewhere : admin, n)));

describe.each(FACES)('an organization over %s', (face) => {
  const call = (procedure: string, input: Record<string, unknown>) => admin.call(face, procedure, input);

  it('is deleted and restored with its products and their variants, except those deleted before', async () => {
    const [organizationId, neighbour] = [await found(), await found()];
    const [kept, gone] = [await create(organizationId), await create(organizationId)];
    const [another, nobodys] = [await create(neighbour), await create()];
    const [variant, goneVariant] = [await addVariant(kept), await addVariant(kept)];
    await admin.rest('DELETE', `/products/${gone}`).expect(204);
    await admin.rest('DELETE', `/products/${kept}/variants/${goneVariant}`).expect(204);
    for (let round = 0; round < 2; round++) {
      expect(await call('organizations.delete', { organizationId })).toEqual(OK);
      expect(await call('organizations.delete', { organizationId })).toEqual(NO_ORGANIZATION);
      for (const productId of [kept, gone]) expect(await call('products.get', { productId })).toEqual(NO_PRODUCT);
      expect(await call('productVariants.list', { productId: kept })).toEqual(NO_PRODUCT);
      for (const productId of [another, nobodys]) expect(await call('products.get', { productId })).toMatchObject(OK);
      const restored = await call('organizations.restore', { organizationId });
      expect(restored).toMatchObject({ ok: true, value: { id: organizationId } });
      expect(JSON.stringify(restored)).not.toMatch(/writer|deletionId|restoration/);
      expect(await call('organizations.restore', { organizationId })).toEqual(NO_ORGANIZATION);
      expect(await productsOf(organizationId)).toEqual([kept]);
      expect(await variantsOf(kept)).toEqual([variant]);
    }
  });

  it('must be live for a product to be restored', async () => {
    const organizationId = await found();
    const [before, along] = [await create(organizationId), await create(organizationId)];
    await admin.rest('DELETE', `/products/${before}`).expect(204);
    await admin.rest('DELETE', `/organizations/${organizationId}`).expect(204);
    for (const productId of [before, along]) expect(await call('products.restore', { productId })).toEqual(NO_ORGANIZATION);
    await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
    expect(await call('products.restore', { productId: along })).toEqual(NO_PRODUCT);
    expect(await call('products.restore', { productId: before })).toMatchObject({ ok: true, value: { organizationId } });
  });
});

describe('at once', () => {
  it('of 20 deletions and of 20 restores one succeeds, and the products follow once', async () => {
    const organizationId = await found();
    const productId = await create(organizationId);
    const variant = await addVariant(productId);
    const deleted = await twenty((person) => person.rest('DELETE', `/organizations/${organizationId}`));
    expect(deleted.filter(({ status }) => status === 204)).toHaveLength(1);
    const restored = await twenty((person) => person.rest('POST', `/organizations/${organizationId}/restore`));
    expect(restored.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await variantsOf(productId)).toEqual([variant]);
  });

  it('products created during the deletion of their organization are deleted and restored with it', async () => {
    for (let round = 0; round < 3; round++) {
      const organizationId = await found();
      const batch = [productOf(organizationId), productOf(organizationId)];
      const creating = twenty((person, n) =>
        n % 4 < 2 ? person.rest('POST', '/products', batch[0]) : person.rest('POST', '/products/batch', batch),
      );
      await elsewhere.rest('DELETE', `/organizations/${organizationId}`).expect(204);
      const answers = await creating;
      expect(answers.every(({ status }) => status === 201 || status === 404)).toBe(true);
      expect(await productsOf(organizationId)).toEqual([]);
      await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
      const made = answers.filter(({ status }) => status === 201).flatMap(({ body }) => body as Product | Product[]);
      expect(await productsOf(organizationId)).toEqual(made.map(({ id }) => id).toSorted());
    }
  });

  it('a product moved to an organization during its deletion is deleted with it, or stays where it was', async () => {
    const [home, organizationId] = [await found(), await found()];
    const products = await twenty(() => create(home));
    const moving = twenty((person, n) => person.rest('PATCH', `/products/${products[n]}`, { organizationId }));
    await elsewhere.rest('DELETE', `/organizations/${organizationId}`).expect(204);
    await moving;
    expect(await productsOf(organizationId)).toEqual([]);
    await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
    const all = [...(await productsOf(home)), ...(await productsOf(organizationId))];
    expect(all.toSorted()).toEqual(products.toSorted());
  });

  it('whatever is deleted and restored of an organization and its products, no product lives without it', async () => {
    const organizationId = await found();
    const products = await twenty(() => create(organizationId));
    await twenty((person, n) => {
      const what = n < 4 ? `/organizations/${organizationId}` : `/products/${products[n]}`;
      return n % 4 < 2 ? person.rest('DELETE', what) : person.rest('POST', `${what}/restore`);
    });
    await admin.rest('DELETE', `/organizations/${organizationId}`);
    expect(await productsOf(organizationId)).toEqual([]);
  });
});
