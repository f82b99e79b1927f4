import { validationError } from '@tandem/core';
import { z } from 'zod';
import { AMOUNT_PLACES, Amount, Currency, amountProblem, toAmount, toMinorUnits } from './money.js';
import { field } from './record.js';

/** A stored price (decisions R5). */
export interface StoredPrice {
  /** In minor units. */
  amount: number;
  /** The wire amount in whole units. Only lists use it, to filter, sort and sum. */
  shown: number;
  currency: string;
  taxIncluded?: boolean | null;
  taxable?: boolean | null;
}

const storedPrice = {
  type: { amount: Number, shown: Number, currency: String, taxIncluded: Boolean, taxable: Boolean, _id: false },
  default: null,
};

const taxes = {
  taxIncluded: z.boolean().nullable().describe('Whether the amount contains the tax; null if unknown.').optional(),
  taxable: z.boolean().nullable().describe('Whether tax is due; null if unknown.').optional(),
};
const GivenAmount = Amount.describe('The amount, with no more decimals than the currency has.');

type Given = { amount?: number | undefined; currency?: string | undefined };
function checkDecimals({ amount, currency }: Given, check: z.RefinementCtx): void {
  const problem = amount === undefined || currency === undefined ? undefined : amountProblem(amount, currency);
  if (problem !== undefined) check.addIssue({ code: 'custom', path: ['amount'], message: problem });
}
/** The OpenAPI generator does not see that a refined object is strict. */
const closed = { override: { additionalProperties: false } };

/** List fields of a price. They use the shown amount, because 5 minor units mean a different amount in each currency. */
export const priceListFields = {
  'price.amount': { type: 'number', stored: 'price.shown', places: AMOUNT_PLACES },
  'price.currency': { type: 'string', sort: false },
} as const;

/** A price in a request: a decimal number with no more decimals than its currency has. */
export const GivenPrice = z
  .strictObject({ amount: GivenAmount, currency: Currency, ...taxes })
  .superRefine(checkDecimals)
  .meta({ id: 'GivenPrice', ...closed });
export type GivenPrice = z.infer<typeof GivenPrice>;

/** A partial change of a price: omitted fields keep their values. */
export const PricePatch = z
  .strictObject({ amount: GivenAmount.optional(), currency: Currency.optional(), ...taxes })
  .superRefine(checkDecimals)
  .meta({ id: 'PricePatch', ...closed });
export type PricePatch = z.infer<typeof PricePatch>;

/** A price in an answer. */
export const PriceSchema = z
  .object({
    amount: z.number(),
    currency: z.string(),
    taxIncluded: z.boolean().nullable(),
    taxable: z.boolean().nullable(),
  })
  .meta({ id: 'Price' });
export type Price = z.infer<typeof PriceSchema>;

/** The price of a record, which may have none. */
export const priceOfRecord = field(GivenPrice.nullable().describe('The price; null if there is none.'), {
  patch: PricePatch.nullable(),
  shown: PriceSchema.nullable(),
  stored: storedPrice,
});

export function storePrice({ amount, currency, taxIncluded = null, taxable = null }: GivenPrice): StoredPrice {
  return { amount: toMinorUnits(amount, currency), shown: amount, currency, taxIncluded, taxable };
}

export function showPrice(price: StoredPrice | null | undefined): Price | null {
  if (!price) return null;
  const { amount, currency, taxIncluded = null, taxable = null } = price;
  return { amount: toAmount(amount, currency), currency, taxIncluded, taxable };
}

/** Matches records with this price, by its fields: a host may have stored them in another order. */
function withPrice(price: StoredPrice | null | undefined): Record<string, unknown> {
  if (!price) return { price: null };
  const names = ['amount', 'shown', 'currency', 'taxIncluded', 'taxable'] as const;
  return Object.fromEntries(names.map((name) => [`price.${name}`, price[name] ?? null]));
}

/**
 * Merges a change into a price. `expected` names the price that was read, for the filter of the write.
 * @param pointer the position of the change in the body, for validation texts
 * @throws validationError when the amount does not fit the currency, or the merged price lacks a field
 */
export function mergePrice(
  before: StoredPrice | null | undefined,
  patch: PricePatch,
  pointer: string,
): { price: StoredPrice; expected: Record<string, unknown> } {
  const shown = showPrice(before);
  const { amount = shown?.amount, currency = shown?.currency } = patch;
  if (amount === undefined || currency === undefined) {
    const missing = amount === undefined ? 'amount' : 'currency';
    throw validationError([`request body${pointer} must have required property '${missing}'`]);
  }
  const problem = amountProblem(amount, currency);
  if (problem !== undefined) throw validationError([`request body${pointer}/amount ${problem}`]);
  const { taxIncluded = shown?.taxIncluded ?? null, taxable = shown?.taxable ?? null } = patch;
  return { price: storePrice({ amount, currency, taxIncluded, taxable }), expected: withPrice(before) };
}
