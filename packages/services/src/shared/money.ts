import { z } from 'zod';
import { CURRENCIES, exponentOf } from './currencies.js';

/**
 * Money (decisions R5): whole minor units in the store, decimal numbers on the wire, in currencies of ISO 4217. Nothing else in the
 * services turns one into the other.
 */

/** The most minor units of any amount or sum: 15 digits, so that a decimal number and the double that carries it are the same. */
export const MAX_MINOR_UNITS = 999_999_999_999_999;

/** A code of ISO 4217, in capitals. */
export const Currency = z.enum(CURRENCIES);

/** An amount on the wire, in whole units with decimals. Its currency decides how many: see `amountProblem`. */
export const Amount = z.number().min(0).max(MAX_MINOR_UNITS);

/** Minor units in one unit: 100 cents. */
const unitOf = (currency: string) => 10 ** exponentOf(currency);

/**
 * What is wrong with an amount of this currency, as a validation text ("must NOT have more than 2 decimals"); undefined when nothing is.
 * @throws RangeError for a currency that is none
 */
export function amountProblem(amount: number, currency: string): string | undefined {
  const unit = unitOf(currency);
  const minor = Math.round(amount * unit);
  if (!(Math.abs(minor) <= MAX_MINOR_UNITS)) return `must be <= ${MAX_MINOR_UNITS / unit}`;
  // both sides are the double next to the same decimal, if it has no more decimals than that
  return minor / unit === amount ? undefined : `must NOT have more than ${exponentOf(currency)} decimals`;
}

/**
 * An amount of the wire in minor units: 12.34 USD are 1234.
 * @throws RangeError for an amount that `amountProblem` finds fault with, and a currency that is none
 */
export function toMinorUnits(amount: number, currency: string): number {
  const problem = amountProblem(amount, currency);
  if (problem !== undefined) throw new RangeError(`an amount ${problem}`);
  // without the sign of a zero
  return Math.round(amount * unitOf(currency)) + 0;
}

/** Minor units as an amount of the wire: 1234 of USD are 12.34. @throws RangeError for a currency that is none */
export function toAmount(minorUnits: number, currency: string): number {
  return minorUnits / unitOf(currency);
}

/**
 * The sum of these numbers of minor units, each so many times.
 * @returns undefined when it is more than MAX_MINOR_UNITS
 */
export function sumOf(parts: readonly { minorUnits: number; times?: number }[]): number | undefined {
  let sum = 0;
  for (const { minorUnits, times = 1 } of parts) {
    sum += minorUnits * times;
    if (!(Math.abs(sum) <= MAX_MINOR_UNITS)) return undefined;
  }
  return sum;
}
