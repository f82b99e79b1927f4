import * as fc from 'fast-check';
import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { meets, sorted } from '../test/plainly.js';
import { productCondition, productDocuments, productOrder, products } from '../test/products.js';
import { LIMITS, createCountCache, parseFilter, printFilter, printOrder, runListQuery, type Condition } from './index.js';

const documents = productDocuments(120);
const live = documents.filter(({ deletedAt }) => !deletedAt);
const RUNS = { seed: 4, numRuns: 200 };

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', documents);
});

const run = (...pairs: [string, string][]) => runListQuery(products, pairs, { collection });
const idsOf = (rows: readonly object[]) => rows.map((row) => ('id' in row ? row.id : (row as Stored)._id));

it('a filter finds what it says, over nulls, missing values and lists, and no deleted record', async () => {
  await fc.assert(
    fc.asyncProperty(productCondition, async (condition) => {
      const { value, total } = await run(['$filter', printFilter(condition)], ['$top', '100']);
      const wanted = live.filter((document) => meets(document, condition));
      expect(idsOf(value)).toEqual(idsOf(wanted.slice(0, 100)));
      expect(total).toBe(wanted.length);
    }),
    RUNS,
  );
});

it('a filter inside a group counts what the same filter finds, and groups that it empties stay', async () => {
  await fc.assert(
    fc.asyncProperty(productCondition, async (condition) => {
      const filter = printFilter(condition);
      const { value } = await run([
        '$apply',
        `groupby((status), filter(${filter}) then aggregate($count as n) then orderby(stock desc) then top(3))`,
      ]);
      const wanted = ['archived', 'draft', 'live'].map((status) => {
        const found = live.filter((document) => document['status'] === status && meets(document, condition));
        const top = sorted(found, [{ path: 'stock', direction: 'desc' }]).slice(0, 3);
        return { status, n: found.length, top: idsOf(top) };
      });
      expect(value.map((row) => ({ ...row, top: idsOf(row['top'] as object[]) }))).toEqual(wanted);
    }),
    RUNS,
  );
});

it.each(["status eq 'live' or stock gt 3 and (", "status eq 'live' or stock gt 3 and not (", 'not (', '('])(
  'a filter of %s, nested as deep as the limit allows, finds what it says on pages and in $apply',
  async (opening) => {
    const nested = (depth: number) => `${opening.repeat(depth)}tolower(tags) ge 'red'${')'.repeat(depth)}`;
    const countOf = (filter: string) => live.filter((document) => meets(document, parseFilter(filter))).length;
    const deepest = nested(LIMITS.depth);
    const settings = { collection, countCache: createCountCache(), cursorSecret: 'a secret', scope: { costPrice: 1 } };
    const total = countOf(deepest);
    const first: [string, string][] = [['$filter', deepest], ['$top', '1']]; // prettier-ignore
    const { nextToken = '', ...page } = await runListQuery(products, first, settings);
    expect(page).toMatchObject({ total, count: 1 });
    expect(await runListQuery(products, [...first, ['$nextToken', nextToken]], settings)).toMatchObject({ total, count: 1 });

    const filtered = nested(LIMITS.depth - 1);
    expect((await run(['$apply', `filter(${filtered}) then aggregate($count as n)`])).value).toEqual([{ n: countOf(filtered) }]);
    const grouped = nested(LIMITS.depth - 2);
    const { value } = await run(['$apply', `groupby((status), filter(${grouped}) then aggregate($count as n))`]);
    expect(value.reduce((sum, { n }) => sum + (n as number), 0)).toBe(countOf(grouped));
  },
);

it('an order sorts as written, nulls first, text by its bytes, equal rows by id', async () => {
  await fc.assert(
    fc.asyncProperty(productOrder, async (order) => {
      const { value } = await run(['$orderby', printOrder(order)], ['$top', '100']);
      expect(idsOf(value)).toEqual(idsOf(sorted(live, order).slice(0, 100)));
    }),
    RUNS,
  );
});

describe('values', () => {
  const count = async (filter: string) => (await run(['$filter', filter])).total;

  it('of dates are dates: with a zone, without time, quoted or unquoted', async () => {
    const wanted = await count('releasedAt eq 2024-01-03T12:00:00Z');
    expect(wanted).toBeGreaterThan(0);
    expect(await count("releasedAt eq '2024-01-03T21:00:00.000+09:00'")).toBe(wanted);
    expect(await count('releasedAt ge 2024-01-03 and releasedAt lt 2024-01-04')).toBe(wanted);
    expect(await count('releasedAt in (2024-01-03T12:00Z, null)')).toBeGreaterThan(wanted);
    expect(await count('releasedAt gt 2000-02-29 and releasedAt lt 2024-12-31T23:59:59.9-23:59')).toBe(await count('releasedAt ne null')); // prettier-ignore
  });

  it.each([
    '2024-02-30',
    '2023-02-29',
    '2024-04-31',
    '1900-02-29',
    '2024-13-01',
    '2024-00-01',
    '2024-01-00',
    '2024-01-32',
    '2024-01-01T24:00:00Z',
    '2024-01-01T10:00:00',
    '2024-01-01T10:60:00Z',
    '2024-01-01T10:00:60Z',
    '2024-01-01T10:00:00.1234Z',
    '2024-01-01T10:00:00+24:00',
    '2024-01-01T10:00:00+09:60',
    ' 2024-01-01',
    '2024-01-01 ',
    'soon',
  ])('%s is no date', async (date) => {
    await expect(count(`releasedAt eq '${date}'`)).rejects.toMatchObject({
      status: 400,
      parameter: '$filter',
      offset: 14,
      message: "query parameter '$filter' has a malformed date at offset 14",
    });
  });

  it.each<[string, string]>([
    ['name eq 5', "compares 'name', a string, with a number at offset 8"],
    ["price eq '5'", "compares 'price', a number, with a string at offset 9"],
    ['active eq 1', "compares 'active', a boolean, with a number at offset 10"],
    ['name eq 2024-01-01', "compares 'name', a string, with a date at offset 8"],
    ['releasedAt eq 5', "compares 'releasedAt', a date, with a number at offset 14"],
    ['price in (1, true)', "compares 'price', a number, with a boolean at offset 13"],
    ['price gt null', "cannot compare null by 'gt' at offset 9"],
  ])('%s is refused', async (filter, problem) => {
    await expect(count(filter)).rejects.toMatchObject({ message: `query parameter '$filter' ${problem}` });
  });

  it('are never read as operators, patterns or paths', async () => {
    const condition: Condition = { kind: 'compare', path: 'name', operator: 'eq', value: { kind: 'string', value: '$where' } };
    expect(await count("name eq '$where'")).toBe(live.filter((document) => meets(document, condition)).length);
    for (const text of ['.*', '{"$ne":null}', '$name', '/a/', '$$ROOT']) {
      expect(await count(`name eq '${text}'`)).toBe(0);
      const grouped = await run(['$apply', `groupby((status), filter(name eq '${text}') then aggregate($count as n))`]);
      expect(grouped.value.map(({ n }) => n)).toEqual([0, 0, 0]);
    }
  });
});
