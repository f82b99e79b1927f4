import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, signUpAll } from '../../test/people.js';
import { productModel } from '../products/product.model.js';
import { orderModel } from './order.model.js';
import type { Order } from './orders.schemas.js';

/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };

const WHO = ['stranger', 'guest', 'buyer', 'member', 'manager', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
/** Who may call what about the buyer's order in the owner's organization. The guest has the role of the manager. */
const ALLOWED: Record<string, readonly Who[]> = {
  get: ['guest', 'buyer', 'member', 'manager', 'owner', 'admin'],
  patch: ['buyer', 'member', 'manager', 'owner', 'admin'],
  cancel: ['buyer', 'member', 'manager', 'owner', 'admin'],
  delete: ['admin'],
  restore: ['admin'],
};

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let productId: string;
let organizationId: string;
beforeAll(async () => {
  organizationId = await createOrganization(people.owner, { member: [people.member], admin: [people.manager, people.guest] });
  productId = crypto.randomUUID();
  const price = { amount: 100, currency: 'EUR', taxIncluded: null, taxable: null };
  await app.storage.model(productModel).create({ _id: productId, name: 'Bread', price });
});

function newOrder(): Promise<Order> {
  const input = { identityId: people.buyer.id, organizationId, items: [{ productId, quantity: 1 }] };
  return people.buyer.rest('POST', '/orders', input).expect<Order>(201);
}

describe.each(FACES)('over %s', (face) => {
  it.each(Object.keys(ALLOWED))('orders.%s is open to exactly the permitted callers, before its input is read', async (name) => {
    const { id: own } = await newOrder();
    const before = await app.storage.model(orderModel).find().lean();
    for (const orderId of [own, NO_ID, 'no-uuid']) {
      // nothing here is valid, so that who may call is told so and changes nothing; without a body only the id can be wrong
      const input = { orderId, ...(name === 'patch' && { foo: 1 }) };
      expect(await app.call(face, `orders.${name}`, input)).toEqual(NOT_SIGNED_IN);
      for (const who of WHO) {
        const mayCall = who === 'admin' || (orderId === own && ALLOWED[name]?.includes(who));
        if (mayCall && orderId === own && name !== 'patch' && name !== 'restore') continue;
        expect(await people[who].call(face, `orders.${name}`, input), `${who}, ${orderId}`).toMatchObject(
          mayCall ? TOLD : REFUSED,
        );
      }
    }
    expect(await app.storage.model(orderModel).find().lean()).toEqual(before);
  });

  it('an order is read by its buyer, the members of its organization, and admins', async () => {
    const { id: orderId } = await newOrder();
    for (const who of WHO) {
      const outcome = await people[who].call(face, 'orders.get', { orderId });
      expect(outcome, who).toMatchObject(ALLOWED['get']?.includes(who) ? { ok: true, value: { id: orderId } } : REFUSED);
    }
  });

  it('an order is moved by admins, and owners and admins of its organization; its buyer only cancels, a member does nothing', async () => {
    const managers: readonly Who[] = ['manager', 'owner', 'admin'];
    for (const who of WHO) {
      const { id: orderId } = await newOrder();
      const confirmed = await people[who].call(face, 'orders.patch', { orderId, status: 'confirmed' });
      expect(confirmed, who).toMatchObject(managers.includes(who) ? { ok: true } : REFUSED);
      const mayCancel = managers.includes(who) || who === 'buyer';
      const byPatch = { orderId: (await newOrder()).id, status: 'cancelled' };
      expect(await people[who].call(face, 'orders.patch', byPatch), who).toMatchObject(mayCancel ? { ok: true } : REFUSED);
      expect(await people[who].call(face, 'orders.cancel', { orderId }), who).toMatchObject(mayCancel ? { ok: true } : REFUSED);
    }
  });

  it('an order is created for oneself, or by an admin for anybody; never by a guest', async () => {
    const items = [{ productId, quantity: 1 }];
    expect(await app.call(face, 'orders.create', { identityId: people.buyer.id, items })).toEqual(NOT_SIGNED_IN);
    for (const who of WHO) {
      const forBuyer = await people[who].call(face, 'orders.create', { identityId: people.buyer.id, items });
      expect(forBuyer, who).toMatchObject(who === 'buyer' || who === 'admin' ? { ok: true } : REFUSED);
      const forSelf = await people[who].call(face, 'orders.create', { identityId: people[who].id, items });
      expect(forSelf, who).toMatchObject(who === 'guest' ? REFUSED : { ok: true });
    }
  });

  it('identities list their own orders, admins all, and members those of their organization', async () => {
    await newOrder();
    for (const who of WHO) {
      const all = await people[who].call(face, 'orders.list', {});
      expect(all, who).toMatchObject(who === 'admin' ? { ok: true } : REFUSED);
      const ofBuyer = await people[who].call(face, 'orders.list', { identityId: people.buyer.id });
      expect(ofBuyer, who).toMatchObject(who === 'buyer' || who === 'admin' ? { ok: true } : REFUSED);
      const ofOrganization = await people[who].call(face, 'orders.listOfOrganization', { organizationId });
      const isInside = ['guest', 'member', 'manager', 'owner', 'admin'].includes(who);
      expect(ofOrganization, who).toMatchObject(isInside ? { ok: true } : REFUSED);
    }
    const widened = await people.buyer.call(face, 'orders.list', {
      identityId: people.buyer.id,
      $filter: `identityId ne '${people.buyer.id}' or identityId eq '${people.buyer.id}'`,
      limit: 50,
    });
    const { data } = (widened as { value: { data: Order[] } }).value;
    expect(data.every(({ identityId }) => identityId === people.buyer.id)).toBe(true);
  });

  it('a buyer sets neither price nor state', async () => {
    const given = { identityId: people.buyer.id, items: [{ productId, quantity: 1, price: 0 }] };
    expect(await people.buyer.call(face, 'orders.create', given)).toMatchObject({ ok: true, value: { total: 1 } });
    expect(await people.buyer.call(face, 'orders.create', { ...given, status: 'delivered' })).toMatchObject({ status: 400 });
    expect(await people.buyer.call(face, 'orders.create', { ...given, total: 0 })).toMatchObject({ status: 400 });
  });
});
