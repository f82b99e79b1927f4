import { expect, it } from 'vitest';
import { CURRENCIES, exponentOf } from './currencies.js';
import { Amount, Currency, MAX_MINOR_UNITS, amountProblem, sumOf, toAmount, toMinorUnits } from './money.js';

it('each currency has the decimals of ISO 4217', () => {
  const known = { USD: 2, EUR: 2, JPY: 0, KRW: 0, ISK: 0, BHD: 3, KWD: 3, TND: 3, CLF: 4, UYW: 4, MGA: 2, IQD: 3, LAK: 2 };
  expect(Object.fromEntries(Object.keys(known).map((code) => [code, exponentOf(code)]))).toEqual(known);
  expect(new Set(CURRENCIES).size).toBe(CURRENCIES.length);
  expect(CURRENCIES.every((code) => /^[A-Z]{3}$/.test(code))).toBe(true);
});

it.each(['usd', 'ABC', 'XAU', 'XXX', '', 'constructor', '__proto__'])('%j is no currency', (code) => {
  expect(Currency.safeParse(code).success).toBe(false);
  expect(() => toMinorUnits(1, code)).toThrow(RangeError);
  expect(() => toAmount(1, code)).toThrow(RangeError);
});

it.each([
  [12.34, 'USD', 1234],
  [0.1, 'USD', 10],
  [0.29, 'EUR', 29],
  [1.005, 'KWD', 1005],
  [4.35, 'USD', 435],
  [1234, 'JPY', 1234],
  [0.0001, 'CLF', 1],
  [0, 'USD', 0],
  [-0, 'USD', 0],
  [9_999_999_999_999.99, 'USD', MAX_MINOR_UNITS],
])('%d %s are %d minor units, and back', (amount, currency, minorUnits) => {
  expect(toMinorUnits(amount, currency)).toBe(minorUnits);
  expect(toAmount(minorUnits, currency)).toBe(amount + 0);
});

it.each([
  [12.345, 'USD', 'must NOT have more than 2 decimals'],
  [0.1 + 0.2, 'USD', 'must NOT have more than 2 decimals'],
  [0.5, 'JPY', 'must NOT have more than 0 decimals'],
  [1.0005, 'KWD', 'must NOT have more than 3 decimals'],
  [1e-7, 'USD', 'must NOT have more than 2 decimals'],
  [Number.MIN_VALUE, 'USD', 'must NOT have more than 2 decimals'],
  [10_000_000_000_000, 'USD', 'must be <= 9999999999999.99'],
  [1e15, 'JPY', 'must be <= 999999999999999'],
  [Number.MAX_VALUE, 'USD', 'must be <= 9999999999999.99'],
  [Number.NaN, 'USD', 'must be <= 9999999999999.99'],
])('%d %s is refused: %s', (amount, currency, problem) => {
  expect(amountProblem(amount, currency)).toBe(problem);
  expect(() => toMinorUnits(amount, currency)).toThrow(problem);
});

it.each(['JPY', 'USD', 'KWD', 'CLF'])('every amount of %s comes back as it went, through text too', (currency) => {
  const exponent = exponentOf(currency);
  const changed: number[] = [];
  // small ones one by one, then ever larger steps up to the largest
  for (let minor = 0, step = 1; minor <= MAX_MINOR_UNITS; minor += step) {
    if (minor > 2000) step = Math.ceil(minor / 997);
    const digits = String(minor).padStart(exponent + 1, '0');
    const text = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
    const wire = JSON.parse(text) as number;
    const isSame = toMinorUnits(wire, currency) === minor && Number(JSON.stringify(toAmount(minor, currency))) === wire;
    if (!isSame) changed.push(minor);
  }
  expect(changed).toEqual([]);
});

it('sums are exact, and end where amounts do', () => {
  expect(sumOf([{ minorUnits: 10, times: 3 }, { minorUnits: 20 }])).toBe(50);
  expect(sumOf([])).toBe(0);
  expect(sumOf([{ minorUnits: MAX_MINOR_UNITS }])).toBe(MAX_MINOR_UNITS);
  expect(sumOf([{ minorUnits: MAX_MINOR_UNITS }, { minorUnits: 1 }])).toBeUndefined();
  expect(sumOf([{ minorUnits: MAX_MINOR_UNITS, times: 1_000_000 }, { minorUnits: -MAX_MINOR_UNITS }])).toBeUndefined();
});

it('an amount is a number from 0', () => {
  for (const value of [-1, -0.01, Number.NaN, Number.POSITIVE_INFINITY, '1', null])
    expect(Amount.safeParse(value).success).toBe(false);
  expect(Amount.parse(0)).toBe(0);
});
