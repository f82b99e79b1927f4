import { databaseOf, fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import type { Product } from './products.schemas.js';

const app = fixture(() => startTestServer({ mongodbUri: databaseOf('products_race') }));
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: proxy.uri }));
let people: Person[];
beforeAll(async () => {
  const admin = await app.signUpAdmin();
  people = [admin, await other.signIn(admin.email)];
});

/** The same from 20 callers at once, on two servers. */
const twenty = (request: (person: Person, n: number) => PromiseLike<{ status: number }>) =>
  Promise.all(Array.from({ length: 20 }, async (_, n) => (await request(people[n % 2] as Person, n)).status));
const once = (status: number, others: number) => [status, ...Array.from({ length: 19 }, () => others)];
const inOrder = (statuses: number[]) => statuses.toSorted((a, b) => a - b);
const admin = () => people[0] as Person;
const create = (fields: object = {}) =>
  admin()
    .rest('POST', '/products', { name: 'Lamp', description: '', ...fields })
    .expect<Product>(201);

it('of 20 concurrent deletions and of 20 restores of a product one succeeds, and its variants follow once', async () => {
  const { id } = await create();
  const variants = [{ title: 'Red' }, { title: 'Blue' }];
  await admin().rest('POST', `/product/${id}/variants/bulk`, variants).expect(201);
  expect(inOrder(await twenty((person) => person.rest('DELETE', `/products/${id}`)))).toEqual(once(204, 404));
  expect(inOrder(await twenty((person) => person.rest('POST', `/products/${id}/restore`)))).toEqual(once(200, 404));
  const { data } = await admin().rest('GET', `/products/${id}/variants`).expect<{ data: ProductVariant[] }>(200);
  expect(data).toHaveLength(2);
});

it('of 20 batches that share a product at most one deletes it, and refused ones delete nothing', async () => {
  const shared = await create();
  const own = await Promise.all(Array.from({ length: 20 }, () => create()));
  const statuses = await twenty((person, n) => person.rest('DELETE', '/products/batch', [own[n]?.id, shared.id]));
  expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  const left = await Promise.all(own.map(async ({ id }) => (await admin().rest('GET', `/products/${id}`)).status));
  expect(left).toEqual(statuses.map((status) => (status === 204 ? 404 : 200)));
});

it('20 concurrent changes of a price, of the amount or of both, leave a price that fits its currency', async () => {
  const { id } = await create({ price: { amount: 1, currency: 'USD' } });
  const statuses = await twenty((person, n) => {
    const price = n % 4 === 0 ? { amount: n, currency: n % 8 === 0 ? 'JPY' : 'USD' } : { amount: n + 0.5 };
    return person.rest('PATCH', `/products/${id}`, { price });
  });
  // half a yen is refused, whenever it comes
  for (const status of statuses) expect([200, 400]).toContain(status);
  const { price } = await admin().rest('GET', `/products/${id}`).expect<Product>(200);
  expect(price?.currency === 'JPY' ? Number.isInteger(price.amount) : price?.currency).toBe(price?.currency === 'JPY' || 'USD');
});

it('20 concurrent changes of the same variants each apply to all of them', async () => {
  const { id } = await create();
  const titles = ['a', 'b', 'c'].map((title) => ({ title }));
  const made = await admin().rest('POST', `/product/${id}/variants/bulk`, titles).expect<ProductVariant[]>(201);
  const ids = made.map((one) => one.id);
  const statuses = await twenty((person, n) =>
    person.rest('PATCH', `/product/${id}/variants/bulk`, { ids, data: { title: `${n}`, sku: `${n}` } }),
  );
  expect(statuses).toEqual(statuses.map(() => 200));
  const { data } = await admin().rest('GET', `/products/${id}/variants`).expect<{ data: ProductVariant[] }>(200);
  expect(data.map(({ title, sku }) => title === sku)).toEqual([true, true, true]);
});

it.each(['two products', 'two variants'])('a change of %s of which one is deleted meanwhile changes none', async (what) => {
  const { id } = await create();
  const [path, all] =
    what === 'two products' ? ['/products', '/products/batch'] : [`/products/${id}/variants`, `/product/${id}/variants/bulk`];
  const bodies = ['a', 'b'].map((name) => (what === 'two products' ? { name, description: '' } : { title: name }));
  const made = await admin().rest('POST', all, bodies).expect<{ id: string; name?: string; title?: string }[]>(201);
  const ids = made.map((one) => one.id);
  const { reached, release } = proxy.hold(isCommand('units.findAndModify'));
  const data = what === 'two products' ? { name: 'c' } : { title: 'c' };
  const changing = people[1]?.rest('PATCH', all, { ids, data }).expect(404);
  await reached;
  await admin().rest('DELETE', `${path}/${ids[0]}`).expect(204);
  release();
  await changing;
  await admin().rest('POST', `${path}/${ids[0]}/restore`).expect(200);
  const after = await Promise.all(ids.map((one) => admin().rest('GET', `${path}/${one}`).expect<(typeof made)[number]>(200)));
  expect(after.map(({ name, title }) => name ?? title)).toEqual(['a', 'b']);
});

it('a product that is deleted with its organization, while it is moved to another one, stays there', async () => {
  const [former, next] = await Promise.all([createOrganization(admin()), createOrganization(admin())]);
  const { id } = await create({ organizationId: former });
  const { reached, release } = proxy.hold(isCommand('units.findAndModify'));
  const moving = people[1]?.rest('PATCH', `/products/${id}`, { organizationId: next }).expect(404);
  await reached;
  await admin().rest('DELETE', `/organizations/${former}`).expect(204);
  release();
  await moving;
  await admin().rest('POST', `/organizations/${former}/restore`).expect(200);
  expect(await admin().rest('GET', `/products/${id}`).expect(200)).toMatchObject({ organizationId: former });
});
