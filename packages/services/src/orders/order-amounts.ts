import { validationError } from '@tandem/core';
import { amountProblem, sumOf, toAmount, toMinorUnits } from '../shared/money.js';
import type { OrderLine, OrderRecord } from './order.model.js';
import type { NewOrder } from './orders.schemas.js';

/** A unit price in minor units, and whether it is the variant's or the product's. */
export interface CataloguePrice {
  amount: number;
  currency: string;
  source: 'variant' | 'product';
}

type Amounts = Pick<OrderRecord, 'currency' | 'items' | 'subtotal' | 'tax' | 'total' | 'shown'>;

function refuse(place: string, problem: string): never {
  throw validationError([`request body/${place} ${problem}`]);
}

function toMinor(amount: number, currency: string, place: string): number {
  const problem = amountProblem(amount, currency);
  return problem === undefined ? toMinorUnits(amount, currency) : refuse(place, problem);
}

function lineOf(given: NewOrder['items'][number], price: CataloguePrice | null, currency: string, place: string): OrderLine {
  const { productId, variantId = null, quantity } = given;
  const line = { productId, variantId, quantity };
  if (price) {
    if (price.currency !== currency) refuse(place, `must be priced in ${currency}`);
    return { ...line, price: price.amount, priceSource: price.source };
  }
  if (given.price === undefined) refuse(place, "must have required property 'price'");
  return { ...line, price: toMinor(given.price, currency, `${place}/price`), priceSource: 'caller' };
}

/** An order with its amounts as decimal numbers (decisions R5). `$select` may have left out the lines. */
export function inWholeUnits<Stored extends Pick<OrderRecord, 'currency' | 'items' | 'shown'>>({
  shown,
  items,
  ...order
}: Stored): Omit<Stored, 'items' | 'shown'> & OrderRecord['shown'] & Pick<OrderRecord, 'items'> {
  const lines = (items as OrderLine[] | undefined)?.map((line) => ({ ...line, price: toAmount(line.price, order.currency) }));
  return { ...order, ...shown, items: lines as OrderLine[] };
}

/**
 * Computes an order's amounts (decisions R5).
 * @param prices the catalogue price of each line, in order; null where there is none
 * @throws validationError for different currencies, a missing price, too many decimals, or amounts of the caller that do not
 * agree
 */
export function computeAmounts(given: NewOrder, prices: readonly (CataloguePrice | null)[]): Amounts {
  const currency = given.currency ?? prices.find((price) => price)?.currency;
  if (currency === undefined) throw validationError(["request body must have required property 'currency'"]);
  const items = given.items.map((item, at) => lineOf(item, prices[at] ?? null, currency, `items/${at}`));
  const tax = toMinor(given.tax ?? 0, currency, 'tax');
  const subtotal = sumOf(items.map(({ price, quantity }) => ({ minorUnits: price, times: quantity })));
  const total = subtotal === undefined ? undefined : sumOf([{ minorUnits: subtotal }, { minorUnits: tax }]);
  if (subtotal === undefined || total === undefined) refuse('items', 'must NOT add up to more than 15 digits');
  const shown = {
    subtotal: toAmount(subtotal, currency),
    tax: toAmount(tax, currency),
    total: toAmount(total, currency),
  };
  for (const name of ['subtotal', 'total'] as const)
    if (given[name] !== undefined && given[name] !== shown[name]) refuse(name, `must be ${shown[name]}`);
  return { currency, items, subtotal, tax, total, shown };
}
