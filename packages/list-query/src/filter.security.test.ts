import * as fc from 'fast-check';
import type { Collection } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productCondition, productDocuments, products } from '../test/products.js';
import { planList, printFilter, runListQuery } from './index.js';

const OPERATORS = new Set(['$and', '$or', '$nor', '$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$regex', '$not', '$type']);
/** Of `tolower`, which is an expression. */
const EXPRESSIONS = new Set(['$expr', '$cond', '$literal', '$ifNull', '$isArray', '$anyElementTrue', '$map', '$reduce', '$setUnion', '$toLower', '$regexMatch', '$regexFindAll', '$replaceAll', '$substrCP', '$indexOfCP', 'input', 'in', 'regex', 'initialValue', 'find', 'replacement']); // prettier-ignore
const paths = new Set([...products.fields.values()].map(({ path }) => path));

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', productDocuments(40));
});

/** The parts of a filter: its keys, and the values that are neither objects nor lists. */
function partsOf(filter: unknown): { keys: string[]; values: unknown[] } {
  if (typeof filter !== 'object' || filter === null || filter instanceof Date) return { keys: [], values: [filter] };
  const inner = Object.values(filter).map(partsOf);
  return {
    keys: [...(Array.isArray(filter) ? [] : Object.keys(filter)), ...inner.flatMap(({ keys }) => keys)],
    values: inner.flatMap(({ values }) => values),
  };
}

it('a filter contains only fixed operators, declared paths and scalars, whatever the text says', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('$where', '{"$ne":null}', '/.*/', '$$ROOT', 'function(){}'),
  );
  const hostile = fc
    .tuple(text, fc.constantFrom({ path: 'name' }, { path: 'name', lower: true as const }), fc.boolean())
    .map(([value, subject, isCall]) =>
      printFilter(
        isCall
          ? { kind: 'text', called: 'contains', text: value, ...subject }
          : { kind: 'compare', operator: 'eq', value: { kind: 'string', value }, ...subject },
      ),
    );
  fc.assert(
    fc.property(fc.oneof(productCondition.map(printFilter), hostile), (filter) => {
      const plan = planList(products, { filter, top: 20 }, {});
      const { keys, values } = partsOf(plan.kind === 'records' ? plan.pageFilter : undefined);
      expect(
        keys.filter((key) => !OPERATORS.has(key) && !EXPRESSIONS.has(key) && !paths.has(key) && key !== 'deletedAt'),
      ).toEqual([]);
      expect(values.every((value) => value === null || value instanceof Date || ['string', 'number', 'boolean'].includes(typeof value))).toBe(true); // prettier-ignore
    }),
    { seed: 6, numRuns: 1000 },
  );
});

it('no filter reaches beyond the scope, or deleted records', async () => {
  const scope = { status: 'live', $or: [{ stock: { $lt: 6 } }, { active: true }] };
  const inScope = new Set((await collection.find({ ...scope, deletedAt: null }).toArray()).map(({ _id }) => _id));
  expect(inScope.size).toBeGreaterThan(2);
  await fc.assert(
    fc.asyncProperty(productCondition, async (condition) => {
      const filter = `${printFilter(condition)} or status ne 'live' or stock ge 0`;
      const { value, total } = await runListQuery(products, [['$filter', filter]], { collection, scope });
      expect(value.every(({ id }) => inScope.has(String(id)))).toBe(true);
      expect(total).toBe(inScope.size);
      const counted = await runListQuery(products, [['$apply', `filter(${filter}) then aggregate($count as n)`]], { collection, scope }); // prettier-ignore
      expect(counted.value).toEqual([{ n: inScope.size }]);
    }),
    { seed: 8, numRuns: 50 },
  );
});

it('hidden fields cannot be queried in any way, and never leave', async () => {
  for (const name of ['costPrice', 'deletedAt', '_id', '__v']) {
    const asked: [string, string][] = [
      ['$filter', `${name} ne null`],
      ['$orderby', name],
      ['$expand', name],
      ['$apply', `filter(${name} ne null)`],
      ['$apply', `orderby(${name})`],
      ['$apply', `groupby((${name}))`],
      ['$apply', `aggregate(${name} with max as m)`],
      ['$apply', `groupby((status), orderby(${name}) then top(1))`],
      ['$apply', `groupby((status), filter(${name} ne null) then top(1))`],
    ];
    for (const pair of asked) await expect(runListQuery(products, [pair], { collection })).rejects.toMatchObject({ status: 400 });
  }
  for (const apply of [
    undefined,
    'top(5)',
    'groupby((status), top(5))',
    'groupby((status, id), top(1)) then groupby((status), top(9))',
  ]) {
    const { value } = await runListQuery(products, apply === undefined ? [] : [['$apply', apply]], { collection });
    expect(JSON.stringify(value)).toContain('categoryId');
    expect(JSON.stringify(value)).not.toMatch(/costPrice|deletedAt|_id"/);
  }
});

it.each([
  ['$filter', (condition: string) => ({ filter: condition })],
  [
    '$apply',
    (condition: string) => {
      const each = ['sum', 'average', 'min', 'max', 'countdistinct'].map((name) => `price with ${name} as ${name}`);
      return { apply: `groupby((id), filter(${condition}) then aggregate(${each.join()}))` };
    },
  ],
])('a %s of many values in lower case is no longer for the store than a few comparisons', (_, asked) => {
  const values = (count: number) => Array(count).fill("''").join();
  const condition = Array.from({ length: 10 }, () => `tolower(name) in (${values(95)})`).join(' or ');
  const plan = planList(products, asked(condition), {});
  expect(JSON.stringify(plan).length).toBeLessThan(200_000);
});
