import { z } from 'zod';
import { CURRENCIES, exponentOf } from './currencies.js';

/**
 * Money (decisions R5): whole minor units in the store, decimal numbers on the wire, ISO 4217 currencies. Only this module
 * converts between the two.
 */

/** Upper bound of any amount or sum, in minor units: with 15 digits, a decimal number survives the conversion to a double. */
export const MAX_MINOR_UNITS = 999_999_999_999_999;

/** An ISO 4217 code, in capitals. */
export const Currency = z.enum(CURRENCIES).meta({ id: 'Currency', description: 'An ISO 4217 code.', examples: ['EUR'] });

/** An amount on the wire, in whole units with decimals. `amountProblem` checks the decimals, which depend on the currency. */
export const Amount = z.number().min(0).max(MAX_MINOR_UNITS);

/** The most decimals of an amount, over all currencies. */
export const AMOUNT_PLACES = Math.max(...CURRENCIES.map(exponentOf));

/** Minor units per unit, such as 100 cents. */
const unitOf = (currency: string) => 10 ** exponentOf(currency);

/**
 * Describes what is wrong with an amount of this currency, as a validation text ("must NOT have more than 2 decimals"); undefined
 * if it is valid.
 * @throws RangeError for an unknown currency
 */
export function amountProblem(amount: number, currency: string): string | undefined {
  const unit = unitOf(currency);
  const minor = Math.round(amount * unit);
  if (!(Math.abs(minor) <= MAX_MINOR_UNITS)) return `must be <= ${MAX_MINOR_UNITS / unit}`;
  // if the amount has few enough decimals, both sides are the double nearest to the same decimal number
  return minor / unit === amount ? undefined : `must NOT have more than ${exponentOf(currency)} decimals`;
}

/**
 * Converts a wire amount to minor units: 12.34 USD becomes 1234.
 * @throws RangeError for an invalid amount (see `amountProblem`) or an unknown currency
 */
export function toMinorUnits(amount: number, currency: string): number {
  const problem = amountProblem(amount, currency);
  if (problem !== undefined) throw new RangeError(`an amount ${problem}`);
  // turns -0 into 0
  return Math.round(amount * unitOf(currency)) + 0;
}

/** Converts minor units to a wire amount: 1234 in USD becomes 12.34. @throws RangeError for an unknown currency */
export function toAmount(minorUnits: number, currency: string): number {
  return minorUnits / unitOf(currency);
}

/**
 * Adds up minor units, each multiplied by `times`.
 * @returns undefined when the sum exceeds MAX_MINOR_UNITS
 */
export function sumOf(parts: readonly { minorUnits: number; times?: number }[]): number | undefined {
  let sum = 0;
  for (const { minorUnits, times = 1 } of parts) {
    sum += minorUnits * times;
    if (!(Math.abs(sum) <= MAX_MINOR_UNITS)) return undefined;
  }
  return sum;
}
