import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { condition, expand, order, steps } from '../test/arbitraries.js';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productCondition, productDocuments, productOrder, products } from '../test/products.js';
import { Problems } from './errors.js';
import {
  ListQueryError,
  planList,
  printApply,
  printExpand,
  printFilter,
  printOrder,
  printSelect,
  readParameters,
  runListQuery,
} from './index.js';

const KEYS = ['$filter', '$search', '$orderby', '$apply', '$expand', '$select', '$nextToken', '$top', '$skip'];
/** Longest time for a text of 4 KB. */
const MAX_MS = 50;
/** Retries exclude pauses of the machine: a slow text is slow each time. */
const TRIES = 5;

type Pairs = [string, string][];

function plan(pairs: Pairs): void {
  const problems = new Problems();
  planList(
    products,
    readParameters(pairs, problems),
    { cursorSecret: 'the secret of the fuzz tests', scope: { stock: 1 } },
    problems,
  );
}

/** Checks that the parameters quickly give a plan, or the one allowed error. */
function expectPlanOrProblem(pairs: Pairs): void {
  let fastest = Infinity;
  for (let n = 0; n < TRIES && fastest > MAX_MS; n += 1) {
    const started = performance.now();
    try {
      plan(pairs);
    } catch (error) {
      if (!(error instanceof ListQueryError) || error.message.length > 300) throw error;
    }
    fastest = Math.min(fastest, performance.now() - started);
  }
  expect(fastest).toBeLessThan(MAX_MS);
}

/** Words and signs of the grammar in random order. */
const soup = fc
  .array(
    fc.constantFrom('price', 'name', 'brand.name', 'tags', 'id', 'eq', 'ne', 'gt', 'in', 'and', 'or', 'not', 'contains(', 'tolower(', 'endswith(name,', '(', ')', ',', "'", "''", "'a'", '5', '-1.5', 'null', 'true', '2024-01-01', 'then', 'aggregate(', 'groupby((', 'filter(', 'orderby(', 'top(', 'with', 'sum', 'as', '$count', 'asc', 'desc', ' ', '.', '$', '\u00a0', '😀', '\u0000'), // prettier-ignore
    { maxLength: 60 },
  )
  .chain((words) => fc.constantFrom(words.join(' '), words.join('')));
const anyText = fc.oneof(
  soup,
  fc.string({ maxLength: 200, unit: 'binary' }),
  fc.string({ maxLength: 200, unit: 'grapheme' }),
  fc.string({ maxLength: 5000 }),
);

const validPairs: Arbitrary<Pairs> = fc.oneof(
  fc.oneof(productCondition, condition).map((tree): Pairs => [['$filter', printFilter(tree)]]),
  fc.oneof(productOrder, order).map((tree): Pairs => [['$orderby', printOrder(tree)]]),
  steps.map((tree): Pairs => [['$apply', printApply(tree)]]),
  expand.map((tree): Pairs => [['$expand', printExpand(tree)]]),
  expand.map((tree): Pairs => [['$select', printSelect(tree.map(({ path }) => path))]]),
);

/** The text with some characters removed, doubled, moved or replaced. */
function mutated(text: string, changes: readonly [number, string][]): string {
  return changes.reduce((changed, [where, how]) => {
    const at = Math.floor(where * changed.length);
    const [before, behind] = [changed.slice(0, at), changed.slice(at)];
    if (how === 'remove') return before + behind.slice(1);
    if (how === 'double') return before + behind.slice(0, 8) + behind;
    if (how === 'turn') return behind + before;
    return before + how + behind.slice(1);
  }, text);
}
const changes = fc.array(
  fc.tuple(
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    fc.constantFrom('remove', 'double', 'turn', '(', ')', "'", ',', ' ', '$', '.', '-', '9', 'x', '\\', '/', '{'),
  ),
  { minLength: 1, maxLength: 5 },
);

describe('parameters give a plan or a 400, within 50 ms', () => {
  it('for any text in any parameter', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), anyText, (key, text) => expectPlanOrProblem([[key, text]])),
      { seed: 1, numRuns: 4000 },
    );
  });

  it('for valid queries with some characters changed', () => {
    fc.assert(
      fc.property(validPairs, changes, (pairs, changed) =>
        expectPlanOrProblem(pairs.map(([key, text]) => [key, mutated(text, changed)])),
      ),
      { seed: 2, numRuns: 4000 },
    );
  });

  it.each<[string, string, string]>([
    ['open parentheses', '$filter', '('.repeat(4096)],
    ['balanced parentheses', '$filter', `${'('.repeat(2040)}price eq 1${')'.repeat(2040)}`],
    ['nots', '$filter', 'not ('.repeat(800)],
    ['functions', '$filter', "contains(tolower(name),'a') or ".repeat(130)],
    ['functions of functions', '$filter', 'tolower('.repeat(500)],
    ['comparisons', '$filter', 'price eq 1 or '.repeat(290)],
    ['values', '$filter', `price in (${'1,'.repeat(2000)}1)`],
    ['quotes', '$filter', `name eq ${"'".repeat(4000)}`],
    ['strings without an end', '$filter', `name eq ${"'a''".repeat(1000)}`],
    ['spaces', '$filter', ' '.repeat(4096)],
    ['dots', '$filter', `a${'.'.repeat(4000)} eq 1`],
    ['a path', '$filter', `${'brand.'.repeat(600)}name eq 1`],
    ['digits', '$filter', `price eq ${'9'.repeat(4000)}`],
    ['decimals', '$filter', `price eq ${'1.'.repeat(2000)}`],
    ['a date', '$filter', `releasedAt eq '${'2024-01-01T'.repeat(370)}'`],
    ['commas', '$orderby', ','.repeat(4096)],
    ['sort keys', '$orderby', 'price,'.repeat(680)],
    ['steps', '$apply', 'top(1) then '.repeat(340)],
    ['groups in groups', '$apply', 'groupby((status),'.repeat(240)],
    ['aggregates', '$apply', `aggregate(${'$count as n,'.repeat(340)}$count as n)`],
    ['relations', '$expand', 'category.'.repeat(450)],
    ['selected fields', '$select', 'brand,'.repeat(680)],
    ['a token', '$nextToken', 'A'.repeat(8192)],
    ['a number', '$top', '9'.repeat(4096)],
  ])('for 4 KB of %s', (_, key, text) => {
    expect(text.length).toBeGreaterThan(2900);
    expectPlanOrProblem([[key, text]]);
  });
});

describe('on the engine', () => {
  let collection: Collection<Stored>;
  beforeAll(async () => {
    collection = await filled(await openTestDatabase(), 'products', productDocuments(40));
  });

  const aggregates = fc
    .subarray(
      [
        '$count as n',
        'price with sum as s',
        'stock with average as a',
        'releasedAt with min as f',
        'name with countdistinct as d',
      ],
      { minLength: 1 },
    ) // prettier-ignore
    .map((items) => `aggregate(${items.join()})`);
  const keys = fc.subarray(['status', 'active', 'brand.name', 'releasedAt', 'id'], { minLength: 1, maxLength: 3 }).map((names) => `(${names.join()})`); // prettier-ignore
  const filter = productCondition.map((tree) => `filter(${printFilter(tree)})`);
  const ordered = productOrder.map((tree) => `orderby(${printOrder(tree)})`);
  const top = fc.nat(30).map((count) => `top(${count})`);
  const inside = fc
    .tuple(fc.option(filter), fc.option(aggregates), fc.option(fc.tuple(ordered, top)))
    .map((parts) => parts.flat().filter((part) => part !== null));
  const group = fc
    .tuple(keys, inside)
    .map(([names, chain]) => `groupby(${[names, chain.join(' then ')].filter(Boolean).join(', ')})`);
  const chain = fc
    .array(fc.oneof(filter, ordered, top, aggregates, group), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(' then '));

  it('a chain of any transformations gives rows or a 400', async () => {
    const seen = { rows: 0, problems: 0 };
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(3), async (apply, skip) => {
        try {
          const { value, count, total } = await runListQuery(products, [['$apply', apply], ['$skip', String(skip)]], { collection }); // prettier-ignore
          expect(count).toBe(value.length);
          expect(count).toBe(Math.max(0, Math.min(20, total - skip)));
          seen.rows += 1;
        } catch (error) {
          if (!(error instanceof ListQueryError)) throw error;
          seen.problems += 1;
        }
      }),
      { seed: 3, numRuns: 500 },
    );
    // Enough of both, or the test proves nothing.
    expect(Math.min(seen.rows, seen.problems)).toBeGreaterThan(100);
  });

  it('a list with everything at once gives rows', async () => {
    await fc.assert(
      fc.asyncProperty(productCondition, productOrder, fc.nat(50), async (conditions, orders, skip) => {
        const pairs = Object.entries({ $filter: printFilter(conditions), $orderby: printOrder(orders), $skip: String(skip) });
        const { count, value, total } = await runListQuery(products, pairs, { collection, cursorSecret: 'x' });
        expect([count, count]).toEqual([value.length, Math.max(0, Math.min(20, total - skip))]);
      }),
      { seed: 5, numRuns: 200 },
    );
  });
});
