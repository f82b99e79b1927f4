import * as fc from 'fast-check';

const NESTED = 3000;
const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** Becomes `1e999` in a body: JSON that is read as infinity, which `JSON.stringify` does not write. */
const INFINITY = '\u0001infinity';

const texts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  '\u202eevil',
  'İ',
  'ﬃ',
  'e\u0301'.repeat(50),
  '👩‍👩‍👧‍👦'.repeat(20),
  '\r\nset-cookie: a=b',
  "' or '1'='1",
  '$where',
  '{"$ne":null}',
  '../../etc/passwd',
  '..',
  '.',
  '%00',
  '%',
  '+',
  'null',
  'true',
  '-0',
  '1e999',
  'NaN',
  '0x10',
  '2024-02-30',
  '+275760-09-13T00:00:00.001Z',
  '0000-01-01T00:00:00.000Z',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '018F0000-0000-7000-8000-00000000000A',
  'a@b',
  '"quoted"@example.org',
  `${'a'.repeat(64)}@${'b'.repeat(180)}.org`,
  'x'.repeat(10_001),
] as const;

/** Text that a schema may or may not take, and that something behind it might not. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...texts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
);

/** Any JSON value but what is asked for. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1.5, 0.1 + 0.2, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21, 1e308, -1e308, 5e-324, INFINITY), // prettier-ignore
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>([], {}, [[]], [null], { $ne: null }, { $gt: '' }, [{ $where: '1' }], { toString: 1 }, { length: 1e9 }), // prettier-ignore
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constant(NESTED).map(nest) },
  { weight: 1, arbitrary: fc.constant(1000).map((length) => Array.from({ length }, (_, n) => n)) },
);

/** Keys that no schema names. */
export const hostileKey = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '_id', '$set', '$where', 'a.b', '', '\u0000', 'x'.repeat(300)); // prettier-ignore

/** Values of cookies: percent-encoding that is broken, quotes, objects as `cookie-parser` reads them, and much of anything. */
export const hostileCookie: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', '%', '%E0%A4%A', '%c0%af', '%00', '"', '"a"', '=', 'a b', '\u00ff', 'j:{}', 'j%3A%7B%22__proto__%22%3A1%7D', `j:${'['.repeat(NESTED)}`, 's:a.b', '%'.repeat(5000), 'x'.repeat(20_000), 'a=b; '.repeat(1000)), // prettier-ignore
  hostileText.map((text) => encodeURIComponent(Buffer.from(text).toString())),
);

/** JSON of a value, as text; `undefined` is no value. */
export function toText(value: unknown): string {
  return JSON.stringify(value)?.replaceAll(JSON.stringify(INFINITY), '1e999') ?? '';
}

/** Bodies that are no JSON, or none of an object or an array. */
export const wildBody: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', '{', '[', '"', '{}', '[]', 'null', '0', 'NaN', '{"a":1,"a":2}', '{"__proto__":{"isAdmin":true}}', '\ufeff{}', '{}{}', '\u0000', `{"a":"${'x'.repeat(1_100_000)}"}`, `{"a":${'['.repeat(100_000)}`), // prettier-ignore
  hostileValue.map(toText),
  fc.string({ unit: 'binary', maxLength: 200 }),
);
