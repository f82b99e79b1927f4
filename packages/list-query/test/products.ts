import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { defineListResource, type Condition, type Literal, type OrderKey, type Subject } from '../src/index.js';
import type { ScalarType } from '../src/index.js';
import { called, conditionsOver } from './arbitraries.js';
import type { Stored } from './database.js';

const fields = {
  name: 'string',
  price: 'number',
  stock: 'number',
  active: 'boolean',
  status: 'string',
  'brand.name': 'string',
  'brand.address.city': 'string',
  tags: 'string[]',
  sizes: 'number[]',
  categoryId: 'string',
  releasedAt: 'date',
} as const;

/** A resource with a field of each type; every stored field except the id may be null or missing. */
export const products = defineListResource({
  name: 'products',
  fields,
  hidden: ['costPrice'],
  relations: { category: { from: 'categoryId', to: 'categories.id' } },
});

const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T;
const day = (n: number) => new Date(Date.UTC(2024, 0, 1 + (n % 9), 12));

/**
 * Documents with few distinct values, so that there are ties, and with nulls, missing fields and null parents. Always
 * the same.
 */
export function productDocuments(count: number): Stored[] {
  return Array.from({ length: count }, (_, n) => {
    const mixed = (n * 2_654_435_761) >>> 7;
    const document: Stored = {
      _id: `p${String(n).padStart(6, '0')}`,
      name: pick(["O'Brien", 'alpha', 'Alpha', 'École', '', '$where', '商品', 'null', null], mixed),
      price: pick([10, 20, 20.5, -5, 0, 1e6, null], mixed >>> 3),
      stock: mixed % 12,
      active: pick([true, false, null], mixed >>> 5),
      status: pick(['live', 'draft', 'archived'], mixed >>> 2),
      brand: pick<unknown>(
        [null, { name: 'Acme', address: { city: 'Tokyo' } }, { name: 'Bolt', address: null }, { name: null }],
        mixed >>> 4,
      ),
      tags: pick<unknown>([[], ['red'], ['red', 'blue'], ['$ne'], null], mixed >>> 6),
      sizes: pick<unknown>([[1, 2, 3], [5], [], null], mixed >>> 8),
      categoryId: pick(['c1', 'c2', 'gone', null], mixed >>> 1),
      releasedAt: n % 7 === 0 ? null : day(mixed),
      costPrice: 1,
      deletedAt: null,
    };
    if (mixed % 5 === 0) delete document['price'];
    if (mixed % 6 === 0) delete document['brand'];
    if (mixed % 11 === 0) delete document['tags'];
    if (n % 13 === 0) document['deletedAt'] = new Date();
    // Host applications may not write it.
    if (n % 4 === 1) delete document['deletedAt'];
    return document;
  });
}

const values: Record<ScalarType, Arbitrary<Literal>> = {
  string: fc
    .constantFrom("O'Brien", 'alpha', 'Alpha', 'école', '', '$where', 'live', 'Acme', 'Tokyo', 'red', '$ne', 'zzz')
    .map((value) => ({ kind: 'string', value })),
  number: fc.constantFrom(10, 20, 20.5, -5, 0, 1e6, 3, 7, 1e-7).map((value) => ({ kind: 'number', value })),
  boolean: fc.boolean().map((value) => ({ kind: 'boolean', value })),
  date: fc.nat(9).map((n) => ({ kind: 'date', value: day(n).toISOString() })),
};
const NULL: Literal = { kind: 'null' };
const names = [...products.fields.keys()].filter((name) => name !== 'id');

const texts = fc.constantFrom('a', 'A', '', 'al', "O'B", 'éc', 'É', '商', '$', 'ed', 'x\0', '.');

const comparison: Arbitrary<Condition> = fc.constantFrom(...names).chain((path): Arbitrary<Condition> => {
  const { type } = products.fields.get(path) as { type: ScalarType };
  const value = fc.oneof({ arbitrary: values[type], weight: 6 }, { arbitrary: fc.constant(NULL), weight: 1 });
  const subject = type === 'string' ? fc.constantFrom<Subject>({ path }, { path, lower: true }) : fc.constant<Subject>({ path });
  const about = <Rest extends object>(rest: Arbitrary<Rest>) => fc.tuple(subject, rest).map(([of, one]) => ({ ...of, ...one }));
  return fc.oneof(
    ...(type === 'string' ? [about(fc.record({ kind: fc.constant('text'), called, text: texts }))] : []),
    about(fc.record({ kind: fc.constant('compare'), operator: fc.constantFrom('gt', 'ge', 'lt', 'le'), value: values[type] })),
    about(fc.record({ kind: fc.constant('compare'), operator: fc.constantFrom('eq', 'ne'), value })),
    about(fc.record({ kind: fc.constant('in'), values: fc.array(value, { minLength: 1, maxLength: 4 }) })),
  );
});

/** Valid conditions for the resource. */
export const productCondition: Arbitrary<Condition> = conditionsOver(comparison);

/** Valid orders for the resource. */
export const productOrder: Arbitrary<OrderKey[]> = fc
  .uniqueArray(fc.constantFrom('id', ...names.filter((name) => !name.endsWith('s') || name === 'status')), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((paths) =>
    fc.tuple(...paths.map((path) => fc.record({ path: fc.constant(path), direction: fc.constantFrom('asc', 'desc') }))),
  );
