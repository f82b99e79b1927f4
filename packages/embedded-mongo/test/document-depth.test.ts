import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { documentDepth } from '../src/document-depth.js';

test('every type of value is skipped, and the deepest document or array counts', () => {
  const flat = {
    double: 1.5,
    text: 'ünïcode \0 zero',
    binary: new BSON.Binary(Buffer.alloc(20)),
    id: new BSON.ObjectId(),
    yes: true,
    date: new Date(0),
    none: null,
    pattern: /a+/i,
    reference: new BSON.DBRef('rows', new BSON.ObjectId()),
    code: new BSON.Code('x'),
    symbol: new BSON.BSONSymbol('s'),
    int: 1,
    timestamp: new BSON.Timestamp({ t: 1, i: 1 }),
    long: new BSON.Long(1),
    decimal: BSON.Decimal128.fromString('1.1'),
    min: new BSON.MinKey(),
    max: new BSON.MaxKey(),
  };
  const { reference: _, ...values } = flat;
  expect(depthOf({})).toBe(1);
  expect(depthOf(values)).toBe(1);
  expect(depthOf(flat)).toBe(2);
  expect(depthOf({ ...values, list: [[], [values, { last: {} }]], ...values })).toBe(5);
  expect(depthOf({ scope: new BSON.Code('x', { a: { b: 1 } }), after: 1 })).toBe(3);
});

test.each([
  ['is cut short', BSON.serialize({ a: { b: 'text' } }).subarray(0, 15)],
  ['has an unknown type', Buffer.from([8, 0, 0, 0, 0x66, 0x61, 0, 0])],
  ['has a text of negative length', Buffer.from([12, 0, 0, 0, 2, 0x61, 0, 255, 255, 255, 255, 0])],
])('a document that %s is refused', (_, bytes) => {
  expect(() => documentDepth(Buffer.from(bytes), 0)).toThrow(RangeError);
});

function depthOf(document: BSON.Document): number {
  return documentDepth(Buffer.from(BSON.serialize(document)), 0);
}
