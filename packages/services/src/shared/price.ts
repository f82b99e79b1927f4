import { validationError } from '@tandem/core';
import { z } from 'zod';
import { Amount, Currency, amountProblem, toAmount, toMinorUnits } from './money.js';

/** A price as it is stored (decisions R5). */
export interface StoredPrice {
  /** In minor units. */
  amount: number;
  /** The amount as it is on the wire, in whole units: what lists filter, sort and add up, and nothing else. */
  shown: number;
  currency: string;
  taxIncluded?: boolean | null;
  taxable?: boolean | null;
}

/** Mongoose paths of a price that may be missing. */
export const priceField = {
  type: { amount: Number, shown: Number, currency: String, taxIncluded: Boolean, taxable: Boolean, _id: false },
  default: null,
};

const taxes = { taxIncluded: z.boolean().nullable().optional(), taxable: z.boolean().nullable().optional() };

type Given = { amount?: number | undefined; currency?: string | undefined };
function checkDecimals({ amount, currency }: Given, check: z.RefinementCtx): void {
  const problem = amount === undefined || currency === undefined ? undefined : amountProblem(amount, currency);
  if (problem !== undefined) check.addIssue({ code: 'custom', path: ['amount'], message: problem });
}
/** Refinements lose it in the document's generator. */
const closed = { override: { additionalProperties: false } };

/** Of a price, what lists can be asked: as it is shown, since in minor units 5 would be something else in every currency. */
export const priceListFields = {
  'price.amount': { type: 'number', stored: 'price.shown' },
  'price.currency': { type: 'string', sort: false },
} as const;

/** A price as it is given: a decimal number, with no more decimals than its currency has. */
export const GivenPrice = z
  .strictObject({ amount: Amount, currency: Currency, ...taxes })
  .superRefine(checkDecimals)
  .meta(closed);
export type GivenPrice = z.infer<typeof GivenPrice>;

/** A change of a price: what is not given stays as it is. */
export const PricePatch = z
  .strictObject({ amount: Amount.optional(), currency: Currency.optional(), ...taxes })
  .superRefine(checkDecimals)
  .meta(closed);
export type PricePatch = z.infer<typeof PricePatch>;

/** A price as it is shown. */
export const PriceSchema = z.object({
  amount: z.number(),
  currency: z.string(),
  taxIncluded: z.boolean().nullable(),
  taxable: z.boolean().nullable(),
});
export type Price = z.infer<typeof PriceSchema>;

export function storePrice({ amount, currency, taxIncluded = null, taxable = null }: GivenPrice): StoredPrice {
  return { amount: toMinorUnits(amount, currency), shown: amount, currency, taxIncluded, taxable };
}

export function showPrice(price: StoredPrice | null | undefined): Price | null {
  if (!price) return null;
  const { amount, currency, taxIncluded = null, taxable = null } = price;
  return { amount: toAmount(amount, currency), currency, taxIncluded, taxable };
}

/**
 * A price after a change, and what of the price before it has been taken for true: the write that sets it names that.
 * @param pointer where in the body the change stands, for the texts of problems
 * @throws validationError when the amount does not fit the currency, or there is no price to merge into
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
  return { price: storePrice({ amount, currency, taxIncluded, taxable }), expected: { price: before ?? null } };
}
