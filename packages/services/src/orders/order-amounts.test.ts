import { describe, expect, it } from 'vitest';
import { computeAmounts, type CataloguePrice } from './order-amounts.js';
import type { NewOrder } from './orders.schemas.js';

const ID = '01890000-0000-7000-8000-000000000000';
const euros = (amount: number, source: 'variant' | 'product' = 'product'): CataloguePrice => ({
  amount,
  currency: 'EUR',
  source,
});
const UNPRICED = null;

function orderOf(items: { quantity: number; price?: number }[], more: Partial<NewOrder> = {}): NewOrder {
  return { identityId: ID, items: items.map((item) => ({ productId: ID, ...item })), ...more };
}
const problemsOf = (given: NewOrder, prices: (CataloguePrice | null)[]): unknown => {
  try {
    return computeAmounts(given, prices);
  } catch (error) {
    return (error as { data?: unknown }).data ?? error;
  }
};

describe('the amounts of an order', () => {
  it('are sums of minor units, with catalogue prices before the caller’s', () => {
    const given = orderOf([{ quantity: 3, price: 99 }, { quantity: 1 }, { quantity: 2, price: 0.1 }], { tax: 0.3 });
    expect(computeAmounts(given, [euros(10), euros(1999, 'variant'), UNPRICED])).toMatchObject({
      currency: 'EUR',
      items: [
        { quantity: 3, price: 10, priceSource: 'product' },
        { quantity: 1, price: 1999, priceSource: 'variant' },
        { quantity: 2, price: 10, priceSource: 'caller' },
      ],
      subtotal: 2049,
      tax: 30,
      total: 2079,
    });
  });

  it('agree with the caller’s amounts, or report the right ones', () => {
    const one = (more: Partial<NewOrder>) => problemsOf(orderOf([{ quantity: 3 }], more), [euros(10)]);
    expect(one({ subtotal: 0.3, tax: 0.1, total: 0.4 })).toMatchObject({ total: 40 });
    expect(one({ subtotal: 0.31 })).toEqual(['request body/subtotal must be 0.3']);
    expect(one({ tax: 0.1, total: 0.3 })).toEqual(['request body/total must be 0.4']);
  });

  it('are of one currency, which is required', () => {
    const yen: CataloguePrice = { amount: 500, currency: 'JPY', source: 'product' };
    expect(problemsOf(orderOf([{ quantity: 1 }, { quantity: 1 }]), [euros(1), yen])).toEqual([
      'request body/items/1 must be priced in EUR',
    ]);
    expect(problemsOf(orderOf([{ quantity: 1 }], { currency: 'USD' }), [euros(1)])).toEqual([
      'request body/items/0 must be priced in USD',
    ]);
    expect(problemsOf(orderOf([{ quantity: 1, price: 1 }]), [UNPRICED])).toEqual([
      "request body must have required property 'currency'",
    ]);
    expect(problemsOf(orderOf([{ quantity: 1 }], { currency: 'EUR' }), [UNPRICED])).toEqual([
      "request body/items/0 must have required property 'price'",
    ]);
  });

  it('have no more decimals than the currency, and at most 15 digits', () => {
    const yen = (price: number, tax = 0) => problemsOf(orderOf([{ quantity: 1, price }], { currency: 'JPY', tax }), [UNPRICED]);
    expect(yen(1.5)).toEqual(['request body/items/0/price must NOT have more than 0 decimals']);
    expect(yen(1, 0.5)).toEqual(['request body/tax must NOT have more than 0 decimals']);
    expect(yen(1e15)).toEqual(['request body/items/0/price must be <= 999999999999999']);
    expect(problemsOf(orderOf([{ quantity: 1_000_000 }]), [euros(999_999_999_999)])).toEqual([
      'request body/items must NOT add up to more than 15 digits',
    ]);
  });
});
