import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { productModel } from '../products/product.model.js';
import type { Order } from './orders.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const adminOther = fixture(() => other.signIn(admin.email));

it('is moved once by 20 concurrent calls on two instances, and never to two states', async () => {
  const productId = crypto.randomUUID();
  await app.storage.model(productModel).create({
    _id: productId,
    name: 'Bread',
    price: { amount: 100, currency: 'EUR', taxIncluded: null, taxable: null },
  });
  for (let round = 0; round < 10; round++) {
    const input = { identityId: admin.id, items: [{ productId, quantity: 1 }] };
    const { id } = await admin.rest('POST', '/orders', input).expect<Order>(201);
    await admin.rest('PATCH', `/orders/${id}`, { status: 'confirmed' }).expect(200);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const status = n % 4 < 2 ? 'shipped' : 'cancelled';
        return (await (n % 2 ? admin : adminOther).rest('PATCH', `/orders/${id}`, { status })).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    const { history, status } = await admin.rest('GET', `/orders/${id}`).expect<Order>(200);
    expect(history).toHaveLength(3);
    expect(history[2]?.status).toBe(status);
  }
});
