import { expect, it } from 'vitest';
import { z } from 'zod';
import { withoutExcess } from './excess-input.js';

const Line = z.strictObject({ productId: z.string(), quantity: z.number() });
const schema = z.strictObject({
  name: z.string(),
  lines: z.array(Line).min(1).max(3).optional(),
  tags: z.array(z.string()).optional(),
  extra: z.looseObject({}).optional(),
  open: z.object({}).optional(),
});

const unknown = (count: number, prefix = 'k') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n]));

it('valid input is left as it is', () => {
  const input = { name: 'a', lines: [{ productId: 'p', quantity: 1 }], extra: unknown(50) };
  expect(withoutExcess(schema, input)).toBe(input);
});

it('input of another type is left as it is, however long', () => {
  for (const other of [undefined, null, 'text'.repeat(50), 5]) {
    expect(withoutExcess(schema, other)).toBe(other);
    const input = { name: 'a', lines: other, extra: other, open: other };
    expect(withoutExcess(schema, input)).toBe(input);
  }
  const list = Array.from({ length: 50 }, (_, n) => n);
  expect(withoutExcess(schema, list)).toBe(list);
});

it('schemas without a bound cut nothing, and lists of up to one item too many are the same list', () => {
  const open = { name: 'a', tags: Array.from({ length: 50 }, String), open: unknown(50) };
  expect(withoutExcess(schema, open)).toBe(open);
  for (const length of [3, 4]) {
    const input = { name: 'a', lines: Array.from({ length }, () => ({ productId: 'p', quantity: 1 })) };
    expect(withoutExcess(schema, input)).toBe(input);
  }
});

it('of unknown keys 21 are kept, at any position, and every known one', () => {
  const wide = withoutExcess(schema, { ...unknown(1000), name: 'a' }) as object;
  expect([Object.keys(wide).length, wide]).toEqual([22, expect.objectContaining({ name: 'a', k0: 0, k20: 20 })]);
  const line = { ...unknown(15), productId: 'p', quantity: 1 };
  const inner = withoutExcess(schema, { name: 'a', lines: [line, line] }) as { lines: object[] };
  expect(inner.lines.map((one) => Object.keys(one).length)).toEqual([17, 8]);
  const planted = JSON.parse(`{"__proto__":{"name":"b"},${JSON.stringify(unknown(30)).slice(1)}`) as object;
  const cut = withoutExcess(schema, planted) as object;
  expect([Object.hasOwn(cut, '__proto__'), Object.getPrototypeOf(cut)]).toEqual([true, Object.prototype]);
});

it('of a list that is too long, one item more than allowed is kept', () => {
  const lines = Array.from({ length: 1000 }, () => ({ productId: 5 }));
  const cut = withoutExcess(schema, { name: 'a', lines }) as { lines: unknown[] };
  expect(cut.lines).toHaveLength(4);
  expect(schema.safeParse(cut).error?.issues).toEqual(
    expect.arrayContaining([expect.objectContaining({ code: 'too_big', maximum: 3 })]),
  );
});
