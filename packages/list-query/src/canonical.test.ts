import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { canonical } from './canonical.js';

const deep = (levels: number): unknown =>
  Array.from({ length: levels }).reduce((inner, _, n) => (n % 2 ? [inner] : { a: inner }), 1);

describe('the text of a filter', () => {
  it('is the same for equal filters, however their keys are ordered', () => {
    const [one, other] = [
      {
        a: { $gt: 1, $lt: 3 },
        b: new Date(5),
        c: [new ObjectId('64b000000000000000000001'), undefined],
        d: /x/i,
        e: Buffer.of(1),
      },
      { e: Buffer.of(1), d: /x/i, c: [new ObjectId('64b000000000000000000001'), null], b: new Date(5), a: { $lt: 3, $gt: 1 } },
    ];
    expect(canonical(one)).toBe(canonical(other));
  });

  it('differs for each value of each type', () => {
    const values: unknown[] = [
      null, false, true, 5, 55, 5n * 11n, '5', 'null', 'true', '#5', '', new Date(5), new Date(6), '@5', /5/, /5/i, /6/, '/5/',
      Uint8Array.of(0xff), Uint8Array.of(0xfe), '</w==>', new ObjectId('64b000000000000000000001'), new ObjectId('64b000000000000000000002'),
      [], {}, [5], [[5]], [5, 5], ['5,#5'], { a: 5 }, { a: '5' }, { b: 5 }, { a: { a: 5 } }, { a: 5, b: 5 }, [{ a: 5 }, { b: 5 }],
      { _bsontype: 'Long', toString: () => '5' }, { _bsontype: 'Decimal128', toString: () => '5' },
    ]; // prettier-ignore
    // a bigint equals the number
    expect(new Set(values.map((value) => canonical(value))).size).toBe(values.length - 1);
  });

  it.each([
    ['a function', { a: () => 1 }, 'A filter cannot hold a function'],
    ['a symbol', [Symbol('a')], 'A filter cannot hold a symbol'],
    ['what nests deeper than 200', deep(201), 'A filter is nested too deeply'],
  ])('is not made of %s', (_, value, message) => expect(() => canonical(value)).toThrow(new TypeError(message)));

  it('accepts nesting up to the limit', () => expect(canonical(deep(200))).toContain('#1'));
});
