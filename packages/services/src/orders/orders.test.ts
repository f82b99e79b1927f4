import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { productVariantModel } from '../product-variants/product-variant.model.js';
import { productModel } from '../products/product.model.js';
import type { OrderStatus } from './order-states.js';
import { orderModel } from './order.model.js';
import type { Order } from './orders.schemas.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const owner = fixture(() => app.signUp());
const organization = { name: 'Bakery', description: 'Bread', contact_email: 'bread@example.org' };
const bakery = fixture(() => owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201));

/** In minor units, as it is stored. */
const price = (amount: number, currency = 'EUR') => ({ amount, currency, taxIncluded: null, taxable: null });
async function product(of: { price?: ReturnType<typeof price> } = {}): Promise<string> {
  const _id = crypto.randomUUID();
  await app.storage.model(productModel).create({ _id, name: 'Bread', ...of });
  return _id;
}
async function variant(productId: string, of: { price?: ReturnType<typeof price> } = {}): Promise<string> {
  const _id = crypto.randomUUID();
  await app.storage.model(productVariantModel).create({ _id, productId, title: 'Big', ...of });
  return _id;
}
async function order(person: Person, input: object = {}): Promise<Order> {
  const items = [{ productId: await product({ price: price(250) }), quantity: 2 }];
  return person.rest('POST', '/orders', { identityId: person.id, items, ...input }).expect<Order>(201);
}
const valueOf = (outcome: unknown) => (outcome as { value: Order }).value;
const refusal = (status: number, message: string, data?: string[]) => ({ ok: false, status, message, ...(data && { data }) });

describe.each(FACES)('an order over %s', (face) => {
  const create = (person: Person, input: object) => person.call(face, 'orders.create', { identityId: person.id, ...input });
  const call = (person: Person, name: string, orderId: string, input: object = {}) =>
    person.call(face, `orders.${name}`, { orderId, ...input });

  it('uses catalogue prices, a variant’s before its product’s, and the caller’s only if there is none', async () => {
    const [priced, unpriced] = await Promise.all([product({ price: price(250) }), product()]);
    const big = await variant(priced, { price: price(400) });
    const small = await variant(priced);
    const items = [
      { productId: priced, quantity: 2, price: 0 },
      { productId: priced, variantId: big, quantity: 1 },
      { productId: priced, variantId: small, quantity: 1 },
      { productId: unpriced, quantity: 3, price: 0.1 },
    ];
    const outcome = await create(ann, { items, tax: 1, total: 12.8, organizationId: bakery.id });
    const { id, createdAt, ...made } = valueOf(outcome);
    expect(made).toEqual({
      identityId: ann.id,
      organizationId: bakery.id,
      currency: 'EUR',
      items: [
        { productId: priced, variantId: null, quantity: 2, price: 2.5, priceSource: 'product' },
        { productId: priced, variantId: big, quantity: 1, price: 4, priceSource: 'variant' },
        { productId: priced, variantId: small, quantity: 1, price: 2.5, priceSource: 'product' },
        { productId: unpriced, variantId: null, quantity: 3, price: 0.1, priceSource: 'caller' },
      ],
      subtotal: 11.8,
      tax: 1,
      total: 12.8,
      status: 'pending',
      metadata: {},
      history: [{ status: 'pending', at: createdAt, identityId: ann.id }],
      updatedAt: createdAt,
    });
    expect(await call(ann, 'get', id)).toEqual(outcome);
    expect(await app.storage.model(orderModel).findById(id).lean()).toMatchObject({ subtotal: 1180, tax: 100, total: 1280 });
  });

  it('refers to things, people and organizations that exist', async () => {
    const productId = await product({ price: price(1) });
    const elsewhere = await variant(await product());
    const gone = await product({ price: price(1) });
    await app.storage.model(productModel).deleteOne({ _id: gone });
    const line = { productId, quantity: 1 };
    for (const missing of [NO_ID, gone])
      expect(await create(ann, { items: [line, { productId: missing, quantity: 1 }] })).toEqual(
        refusal(404, 'Product not found'),
      );
    for (const variantId of [NO_ID, elsewhere])
      expect(await create(ann, { items: [{ ...line, variantId }] })).toEqual(refusal(404, 'Product variant not found'));
    expect(await create(ann, { items: [line], organizationId: NO_ID })).toEqual(refusal(404, 'Organization not found'));
    expect(await create(admin, { items: [line], identityId: NO_ID })).toEqual(refusal(404, 'Identity not found'));
  });

  it('is refused with every problem of its shape, and with amounts that do not agree', async () => {
    const productId = await product({ price: price(250) });
    const bad = { items: [{ productId: 'x', quantity: 0.5, price: -1 }], currency: 'XXX', tax: '1', foo: 1 };
    const outcome = (await create(ann, bad)) as { status: number; data: string[] };
    expect(outcome.status).toBe(400);
    expect(outcome.data).toHaveLength(6);
    expect(await create(ann, { items: [] })).toMatchObject({ status: 400, message: 'Validation Error' });
    expect(await create(ann, { items: [{ productId, quantity: 2 }], total: 4 })).toEqual(
      refusal(400, 'Validation Error', ['request body/total must be 5']),
    );
  });

  it('moves from state to state, which its history keeps, and no other way', async () => {
    const { id } = await order(ann);
    const move = (status: OrderStatus) => call(admin, 'patch', id, { status });
    const refused = (from: OrderStatus, to: OrderStatus) => refusal(409, `Order cannot move from ${from} to ${to}`);
    for (const to of ['pending', 'shipped', 'delivered'] as const) expect(await move(to)).toEqual(refused('pending', to));
    expect(valueOf(await move('confirmed')).status).toBe('confirmed');
    expect(await move('confirmed')).toEqual(refused('confirmed', 'confirmed'));
    expect(valueOf(await move('shipped')).status).toBe('shipped');
    expect(await move('cancelled')).toEqual(refused('shipped', 'cancelled'));
    expect(await call(ann, 'cancel', id)).toEqual(refused('shipped', 'cancelled'));
    const { history, status, updatedAt } = valueOf(await move('delivered'));
    expect(history.map((entry) => entry.status)).toEqual(['pending', 'confirmed', 'shipped', 'delivered']);
    expect(history.map(({ identityId }) => identityId)).toEqual([ann.id, admin.id, admin.id, admin.id]);
    expect([status, updatedAt]).toEqual(['delivered', history[3]?.at]);
    expect(await call(admin, 'patch', id)).toEqual(refusal(400, 'Failed to update order'));
    expect(await call(admin, 'patch', NO_ID, { status: 'confirmed' })).toEqual(refusal(404, 'Order not found'));
    expect(await call(admin, 'cancel', NO_ID)).toEqual(refusal(404, 'Order not found'));
  });

  it('is cancelled by its buyer while pending or confirmed', async () => {
    const [pending, confirmed] = [await order(ann), await order(ann)];
    await call(admin, 'patch', confirmed.id, { status: 'confirmed' });
    for (const { id } of [pending, confirmed]) expect(valueOf(await call(ann, 'cancel', id)).status).toBe('cancelled');
  });

  it('is deleted and restored', async () => {
    const { id, ...rest } = await order(ann);
    expect((await call(admin, 'delete', id)).ok).toBe(true);
    expect(await call(admin, 'get', id)).toEqual(refusal(404, 'Order not found'));
    expect(await call(admin, 'delete', id)).toEqual(refusal(404, 'Order not found'));
    expect(valueOf(await call(admin, 'restore', id))).toMatchObject({ id, total: rest.total, items: rest.items });
    expect(await call(admin, 'restore', id)).toEqual(refusal(404, 'Order not found'));
  });
});

describe.each(FACES)('orders over %s', (face) => {
  it('are listed for the buyer, the organization and admins', async () => {
    const eve = await app.signUp();
    for (let n = 0; n < 5; n++) await order(eve, { organizationId: bakery.id });
    for (const [person, procedure, input] of [
      [eve, 'orders.list', { identityId: eve.id }],
      [owner, 'orders.listOfOrganization', { organizationId: bakery.id, $filter: `identityId eq '${eve.id}'` }],
    ] as const) {
      const own = (await person.call(face, procedure, input)) as { value: { data: Order[] } };
      expect(own.value.data).toHaveLength(5);
    }
    const all = (await admin.call(face, 'orders.list', { $filter: `identityId eq '${eve.id}'` })) as { value: { data: Order[] } };
    expect(all.value.data).toHaveLength(5);
    expect(all.value.data.every(({ identityId }) => identityId === eve.id)).toBe(true);
  });
});
