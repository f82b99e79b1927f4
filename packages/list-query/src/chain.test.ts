import type { Collection, Db } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { products } from '../test/products.js';
import { saleDocuments, sales } from '../test/sales.js';
import { ListTimeLimitError, defineListResource, planList, runListQuery, type ListResource } from './index.js';

let db: Db;
let collection: Collection<Stored>;
beforeAll(async () => {
  db = await openTestDatabase();
  collection = await filled(db, 'sales', saleDocuments);
});

async function apply(text: string, ...others: [string, string][]) {
  return runListQuery(sales, [['$apply', text], ...others], { collection });
}
const rowsOf = async (text: string, ...others: [string, string][]) => (await apply(text, ...others)).value;
const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => id);

describe('the chain', () => {
  it('goes step by step: an order is kept, and later steps see only what is left', async () => {
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3)'))).toEqual(['s2', 's4', 's5']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3) then filter(amount lt 30)'))).toEqual(['s4', 's5']);
    expect(idsOf(await rowsOf('filter(amount lt 30) then orderby(amount desc) then top(3)'))).toEqual(['s4', 's5', 's1']);
    expect(idsOf(await rowsOf('top(2)'))).toEqual(['s6', 's5']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(2) then top(3)'))).toEqual(['s2', 's4']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3) then top(2)'))).toEqual(['s2', 's4']);
    expect(await apply('orderby(amount desc) then top(5) then top(3)', ['$top', '1'])).toMatchObject({ total: 3, count: 1 });
    expect(await rowsOf('orderby(amount desc) then top(3) then aggregate(amount with sum as s)')).toEqual([{ s: 70 }]);
  });

  it('sorts once before grouping, and once between two groupings', async () => {
    const counts = 'groupby((shop), aggregate($count as n))';
    const chain = `orderby(amount) then top(5) then ${counts} then orderby(n desc) then top(2) then aggregate($count as n) then orderby(n)`;
    expect(await rowsOf(chain)).toEqual([{ n: 2 }]);
    const problem = "has a second 'orderby' without a 'groupby' or 'aggregate' between them";
    for (const [text, at] of [
      ['orderby(amount) then orderby(shop)', 21],
      ['orderby(amount) then top(3) then filter(amount gt 1) then orderBy(shop)', 58],
      [`${counts} then orderby(n) then top(3) then orderby(shop)`, counts.length + 34],
    ] as const)
      await expect(apply(text), text).rejects.toMatchObject({
        status: 400,
        offset: at,
        message: `query parameter '$apply' ${problem} at offset ${at}`,
      });
    await expect(apply('groupby((shop), orderby(amount) then orderby(soldAt) then top(1))')).rejects.toMatchObject({
      message: "query parameter '$apply' has a second 'orderby' in a group at offset 37",
    });
  });

  it('is ordered and paged at its end by $orderby, $skip and $top', async () => {
    const page = await apply('groupby((place.city), aggregate($count as n))', ['$orderby', 'n desc, place.city desc'], ['$skip', '1'], ['$top', '2']); // prettier-ignore
    expect(page).toEqual({
      total: 4,
      count: 2,
      value: [
        { place: { city: 'Oslo' }, n: 2 },
        { place: { city: null }, n: 2 },
      ],
    });
    const records = await apply('filter(amount ge 5)', ['$orderby', 'amount desc'], ['$skip', '1'], ['$top', '2']);
    expect({ ...records, value: idsOf(records.value) }).toEqual({ total: 5, count: 2, value: ['s4', 's5'] });
    expect(await apply('filter(amount ge 5)', ['$top', '0'])).toEqual({ total: 5, count: 0, value: [] });
    expect(await apply('filter(amount ge 5)', ['$skip', '9'])).toEqual({ total: 5, count: 0, value: [] });
    expect(await apply('filter(amount gt 1e9)', ['$skip', '9'])).toEqual({ total: 0, count: 0, value: [] });
    expect(await apply('filter(amount ge 5)', ['$skip', '3'], ['$top', '2'])).toMatchObject({ total: 5, count: 2 });
    const byTwo = 'groupby((shop, place.city))';
    expect(await rowsOf(`${byTwo} then orderby(shop desc) then top(2)`)).toEqual([{ shop: 'south', place: { city: null } }, { shop: 'north', place: { city: 'Bergen' } }]); // prettier-ignore
    expect((await rowsOf(byTwo, ['$orderby', 'shop desc'])).map(({ shop }) => shop)).toEqual(['south', 'north', 'north', null]);
    expect(await apply('groupby((shop))', ['$top', '0'])).toEqual({ total: 3, count: 0, value: [] });
  });

  it('may name a computed value like a hidden field', async () => {
    expect(await rowsOf('aggregate($count as cost, amount with sum as deletedAt) then filter(cost gt 1)')).toEqual([{ cost: 7, deletedAt: 85 }]); // prettier-ignore
    expect(await rowsOf('groupby((shop), aggregate($count as cost)) then filter(cost gt 2)')).toEqual([{ shop: 'north', cost: 3 }]); // prettier-ignore
  });

  it('gives records without hidden fields', async () => {
    expect(Object.keys((await rowsOf('top(1)'))[0] ?? {})).toEqual(['id', 'shop', 'place', 'soldAt']);
  });

  it.each<[string, string]>([
    ['aggregate($count as n) then filter(amount gt 1)', "has the unknown property 'amount' at offset 35"],
    ['groupby((shop)) then orderby(amount)', "has the unknown property 'amount' at offset 29"],
    ['groupby((shop), top(1)) then filter(top eq null)', "has the unknown property 'top' at offset 36"],
    ['groupby((shop), aggregate($count as shop))', "has the name 'shop' twice at offset 26"],
    ['groupby((place.city), aggregate($count as place))', "has the name 'place' twice at offset 32"],
    ['groupby((shop), aggregate($count as top) then top(1))', "has the name 'top' twice at offset 46"],
    ['groupby((shop), aggregate($count as n) then aggregate($count as m))', "has a second 'aggregate' in a group at offset 44"],
    ['groupby((top), top(1))', "has the name 'top' twice at offset 15"],
    ['aggregate(amount with sum as s, soldAt with min as s)', "has the name 's' twice at offset 32"],
    ['groupby((shop, shop))', "groups by 'shop' twice at offset 15"],
    ['groupby((shop), groupby((shop)))', "groups by 'shop' twice at offset 25"],
    ['groupby((place))', "has the unknown property 'place' at offset 9"],
    ['groupby((tags))', "has the property 'tags', which cannot be grouped by, at offset 9"],
    ['aggregate(tags with countdistinct as n)', "has the property 'tags', which cannot be aggregated, at offset 10"],
    ['aggregate(soldAt with average as a)', "cannot compute average of 'soldAt', a date, at offset 10"],
    ['aggregate(shop with max as m)', "cannot compute max of 'shop', a string, at offset 10"],
    ['groupby((shop), filter(amount gt 1))', "needs an 'aggregate' or a 'top' behind the 'filter' of a group at offset 16"],
    ['groupby((shop), orderby(amount))', "needs a 'top' behind the 'orderby' of a group at offset 16"],
    ['groupby((shop), top(2) then aggregate($count as n))', "has a transformation behind the 'top' of a group at offset 28"],
    ['groupby((shop), top(101))', 'can keep at most 100 records of a group at offset 16'],
    ['groupby((shop), groupby((paid)) then top(1))', "has a transformation behind a 'groupby' inside a group at offset 37"],
    ['groupby((shop), top(1) then groupby((paid)))', "can only have 'filter' before a 'groupby' inside a group at offset 16"],
    ['groupby((secretNote))', "has the property 'secretNote', which cannot be grouped by, at offset 9"],
    ['filter(cost gt 1)', "has the unknown property 'cost' at offset 7"],
    ['filter(__proto__ eq 1)', "has the unknown property '__proto__' at offset 7"],
    ['filter(constructor eq 1)', "has the unknown property 'constructor' at offset 7"],
    ['groupby((_id))', "has the unknown property '_id' at offset 9"],
  ])('%s is refused', async (text, problem) => {
    await expect(apply(text)).rejects.toMatchObject({
      status: 400,
      parameter: '$apply',
      message: `query parameter '$apply' ${problem}`,
    });
  });

  it('groups by eight properties at most, and by none inside another, also in nested groups', () => {
    const group = (resource: ListResource, outer: string, inner: string) => () =>
      planList(resource, { apply: `groupby((${outer}), groupby((${inner})))` }, {});
    const seven = 'name, price, stock, active, status, brand.name, brand.address.city';
    expect(group(products, seven, 'categoryId')).not.toThrow();
    expect(group(products, `${seven}, categoryId`, 'releasedAt')).toThrow('has more than 8 group properties at offset 99');
    const things: ListResource = defineListResource({ name: 'things', fields: { a: 'string', 'a.b': 'string', ab: 'string' } });
    expect(group(things, 'a', 'a.b')).toThrow("groups by 'a.b' twice at offset 22");
    expect(group(things, 'a.b', 'a')).toThrow("groups by 'a' twice at offset 24");
    expect(group(things, 'a', 'ab')).not.toThrow();
  });

  it('has rows of its own, without the stored fields', async () => {
    await expect(apply('groupby((shop))', ['$orderby', 'amount'])).rejects.toMatchObject({ parameter: '$orderby', offset: 0 });
    for (const text of ['groupby((shop))', 'aggregate($count as n) then top(1)'])
      await expect(apply(text, ['$expand', 'seller'])).rejects.toMatchObject({
        problems: [{ parameter: '$expand', offset: 0, message: "query parameter '$expand' cannot be used together with a '$apply' that computes rows" }], // prettier-ignore
      });
    await expect(apply('top(', ['$orderby', 'n desc'])).rejects.toMatchObject({ problems: [{ parameter: '$apply' }] });
  });
});

describe('the cost of a transformation', () => {
  it('is bounded in time, with an error of its own', async () => {
    const many = await filled(
      db,
      'many',
      Array.from({ length: 20_000 }, (_, n) => ({ _id: String(n), amount: n })),
    );
    const slow = runListQuery(sales, [['$apply', 'groupby((id, amount), top(5)) then orderby(amount desc)']], {
      collection: many,
      maxTimeMs: 1,
    });
    await expect(slow).rejects.toThrow(ListTimeLimitError);
    await expect(slow).rejects.toMatchObject({
      name: 'ListTimeLimitError',
      status: 503,
      message: 'The list query was stopped by its time limit of 1 ms',
      cause: { code: 50 },
    });
    const list = runListQuery(sales, [['$orderby', 'shop desc, amount']], { collection: many, maxTimeMs: 1 });
    await expect(list).rejects.toThrow(ListTimeLimitError);
  });

  it('is bounded in memory, and the caller is told', async () => {
    const note = 'x'.repeat(20_000);
    const records = Array.from({ length: 1000 }, (_, n) => ({ _id: String(n), amount: n % 20, note }));
    const options = { collection: await filled(db, 'big', records), maxTimeMs: 25_000 };
    await expect(runListQuery(sales, [['$apply', 'groupby((amount), top(100))']], options)).rejects.toMatchObject({
      name: 'ListQueryError',
      status: 400,
      parameter: '$apply',
      message: "query parameter '$apply' asks for more than one query may hold in memory",
    });
    expect((await runListQuery(sales, [['$apply', 'groupby((amount), top(5))']], options)).count).toBe(20);
  });
});
