import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { productModel } from '../products/product.model.js';
import type { Order } from './orders.schemas.js';

const refusal = (problem: string) => ({ ok: false, status: 400, message: 'Validation Error', data: [problem] });
const OF_TWO = refusal('request body/items must be of one organization');
const ANOTHER = refusal('request body/organizationId must be that of the products');

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const baker = fixture(() => app.signUp());
/** Ids of organizations. */
let bakery: string;
let dairy: string;
beforeAll(async () => {
  [bakery, dairy] = [await organization(baker, 'Bakery'), await organization(await app.signUp(), 'Dairy')];
});

async function organization(owner: Person, name: string): Promise<string> {
  const given = { name, description: name, contact_email: 'shop@example.org' };
  return (await owner.rest('POST', '/organizations', { organization: given }).expect<{ id: string }>(201)).id;
}
const products = () => app.storage.model(productModel);
async function line(organizationId: string | null): Promise<{ productId: string; quantity: number }> {
  const productId = crypto.randomUUID();
  const price = { amount: 250, currency: 'EUR', taxIncluded: null, taxable: null };
  await products().create({ _id: productId, name: 'Bread', price, organizationId });
  return { productId, quantity: 1 };
}

describe.each(FACES)('the organization of an order over %s', (face) => {
  const create = (input: object, key?: string) =>
    app.call(
      face,
      'orders.create',
      { identityId: ann.id, ...input },
      { ...ann.credentials, ...(key !== undefined && { headers: { 'idempotency-key': key } }) },
    );
  const made = (organizationId: string | null) => ({ ok: true, value: { organizationId } });

  it('is that of its products, named or not, which can then see and confirm it', async () => {
    const items = [await line(bakery), await line(bakery)];
    expect(await create({ items, organizationId: bakery })).toMatchObject(made(bakery));
    const outcome = await create({ items });
    expect(outcome).toMatchObject(made(bakery));
    const { id } = (outcome as unknown as { value: Order }).value;
    const confirmed = await baker.call(face, 'orders.patch', { orderId: id, status: 'confirmed' });
    expect(confirmed).toMatchObject({ ok: true, value: { status: 'confirmed' } });
  });

  it('cannot differ from that of its products', async () => {
    for (const items of [[await line(bakery)], [await line(null), await line(bakery)]])
      expect(await create({ items, organizationId: dairy })).toEqual(ANOTHER);
  });

  it('is unique: products of two are refused, whichever is named', async () => {
    const items = [await line(bakery), await line(dairy), await line(null)];
    for (const organizationId of [undefined, bakery, dairy]) expect(await create({ items, organizationId })).toEqual(OF_TWO);
  });

  it('may be any or none if the products have none, which go with those of any', async () => {
    const items = [await line(null), await line(null)];
    expect(await create({ items })).toMatchObject(made(null));
    expect(await create({ items, organizationId: dairy })).toMatchObject(made(dairy));
    expect(await create({ items: [...items, await line(bakery)] })).toMatchObject(made(bakery));
  });

  it('is reported after missing records, and before amounts that do not agree', async () => {
    const items = [await line(bakery), await line(dairy)];
    const gone = { productId: crypto.randomUUID(), quantity: 1 };
    expect(await create({ items: [...items, gone] })).toMatchObject({ status: 404, message: 'Product not found' });
    expect(await create({ items, total: 1 })).toEqual(OF_TWO);
  });

  it('stays when a product moves to another, even for a repeated request', async () => {
    const [key, items] = [crypto.randomUUID(), [await line(bakery)]];
    const first = await create({ items }, key);
    await products().updateOne({ _id: items[0]?.productId }, { organizationId: dairy });
    expect(await create({ items }, key)).toEqual(first);
    expect(await create({ items })).toMatchObject(made(dairy));
  });
});

it('orders created while their product moves are of the organization they name, or refused', async () => {
  const item = await line(bakery);
  const order = (organizationId?: string) =>
    ann.call('rest', 'orders.create', { identityId: ann.id, items: [item], ...(organizationId && { organizationId }) });
  const move = (organizationId: string) => products().updateOne({ _id: item.productId }, { organizationId });
  const named = Array.from({ length: 20 }, (_, n) => (n % 2 ? bakery : dairy));
  const [outcomes] = await Promise.all([Promise.all(named.map(order)), ...named.map((organizationId) => move(organizationId))]);
  for (const [n, organizationId] of named.entries())
    expect([{ ok: true, value: expect.objectContaining({ organizationId }) as object }, ANOTHER]).toContainEqual(outcomes[n]);
});
