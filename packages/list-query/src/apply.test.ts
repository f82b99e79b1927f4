import type { Collection, Db } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { saleDocuments, sales } from '../test/sales.js';
import { runListQuery } from './index.js';

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

describe('a value of another type than its field has', () => {
  let odd: Collection<Stored>;
  beforeAll(async () => {
    const [first, ...others] = saleDocuments as Stored[];
    const oddOnes = [
      { ...first, amount: 'free', soldAt: 'yesterday', shop: 5 },
      { ...first, amount: [1e9], soldAt: true, shop: { name: 'x' } },
    ];
    odd = await filled(db, 'odd', [...others, ...oddOnes.map((document, n) => ({ ...document, _id: `odd${n}` }))]);
  });
  const rowsOfOdd = async (text: string) => (await runListQuery(sales, [['$apply', text]], { collection: odd })).value;

  it('is ignored by aggregates', async () => {
    const all =
      'aggregate(amount with sum as s, amount with average as a, amount with min as l, amount with max as m, amount with countdistinct as d, soldAt with min as f, soldAt with max as t, shop with countdistinct as shops)';
    const wanted = { s: 75, a: 18.75, l: 5, m: 30, d: 3, f: '2024-01-02T00:00:00.000Z', t: '2024-01-06T00:00:00.000Z', shops: 2 };
    expect(await rowsOfOdd(all)).toEqual([wanted]);
    expect(await rowsOfOdd("filter(amount eq null or shop ne 'north') then groupby((paid), filter(shop ne 'south') then aggregate(amount with max as m)) then filter(paid eq true)")).toEqual([{ paid: true, m: null }]); // prettier-ignore
  });

  it('is not shown as the key of a group', async () => {
    expect(await rowsOfOdd('groupby((shop), aggregate($count as n)) then orderby(shop)')).toEqual([
      { shop: null, n: 2 },
      { shop: 'north', n: 2 },
      { shop: 'south', n: 2 },
    ]);
  });
});

describe('aggregate', () => {
  it('computes over the values there are, and gives null for none', async () => {
    expect(
      await apply(
        'aggregate($count as n, amount with sum as sum, amount with average as avg, amount with min as least, soldAt with max as last, shop with countdistinct as shops)',
      ),
    ).toEqual({ total: 1, count: 1, value: [{ n: 7, sum: 85, avg: 17, least: 5, last: '2024-01-06T00:00:00.000Z', shops: 2 }] });
    const nothing = { n: 0, sum: null, avg: null, least: null, last: null, shops: 0 };
    const text = `aggregate($count as n, amount with sum as sum, amount with average as avg, amount with min as least, soldAt with max as last, shop with countdistinct as shops)`;
    expect(await rowsOf(`filter(amount gt 1e9) then ${text}`)).toEqual([nothing]);
    expect(await rowsOf(text, ['$filter', 'amount gt 1e9'])).toEqual([nothing]);
  });

  it('gives one row for later steps, also from no rows', async () => {
    expect(await rowsOf('filter(amount gt 1e9) then aggregate($count as n) then filter(n eq 0)')).toEqual([{ n: 0 }]);
    expect(await rowsOf('aggregate($count as n) then filter(n eq 0)')).toEqual([]);
    expect(await rowsOf('top(0) then aggregate($count as n, amount with sum as s) then aggregate(s with countdistinct as d, n with max as m)')).toEqual([{ d: 0, m: 0 }]); // prettier-ignore
    expect(await rowsOf('aggregate(amount with sum as s) then groupby((s), aggregate($count as n))')).toEqual([{ s: 85, n: 1 }]);
  });

  it('is paged like other rows', async () => {
    expect(await apply('aggregate($count as n)', ['$skip', '1'])).toEqual({ total: 1, count: 0, value: [] });
    expect(await apply('aggregate($count as n)', ['$top', '0'])).toEqual({ total: 1, count: 0, value: [] });
    expect(await apply('aggregate($count as n)', ['$orderby', 'n desc'])).toMatchObject({ value: [{ n: 7 }] });
  });
});

describe('groupby', () => {
  it('makes one group of null and missing, nests dotted keys, and is ordered by its keys', async () => {
    expect(await apply('groupby((shop))')).toEqual({
      total: 3,
      count: 3,
      value: [{ shop: null }, { shop: 'north' }, { shop: 'south' }],
    });
    expect(await rowsOf('groupby((shop, place.city), aggregate($count as n))')).toEqual([
      { shop: null, place: { city: 'Rome' }, n: 2 },
      { shop: 'north', place: { city: 'Bergen' }, n: 1 },
      { shop: 'north', place: { city: 'Oslo' }, n: 2 },
      { shop: 'south', place: { city: null }, n: 2 },
    ]);
  });

  it('shows the id as a key under its name', async () => {
    expect(await rowsOf('groupby((id), aggregate($count as n)) then top(1)')).toEqual([{ id: 's1', n: 1 }]);
  });

  it('keeps the first records of each group whole, without hidden fields', async () => {
    const rows = await rowsOf('groupby((shop), orderBy(amount desc) then top(2))');
    expect(rows.map(({ shop, top }) => [shop, idsOf(top as [])])).toEqual([
      [null, ['s7', 's6']],
      ['north', ['s2', 's1']],
      ['south', ['s4', 's5']],
    ]);
    expect(rows[1]?.['top']).toContainEqual({ id: 's1', shop: 'north', place: { city: 'Oslo' }, amount: 10, soldAt: '2024-01-01T00:00:00.000Z', paid: true, tags: ['a'] }); // prettier-ignore
  });

  it('keeps them in the order of the chain, or else of the resource', async () => {
    const tops = async (text: string) => (await rowsOf(text)).map(({ top }) => idsOf(top as []));
    expect(await tops('groupby((shop), top(2))')).toEqual([['s6', 's7'], ['s3', 's2'], ['s5', 's4']]); // prettier-ignore
    expect(await tops('orderby(amount) then groupby((shop), top(1))')).toEqual([['s6'], ['s3'], ['s4']]);
    expect(await tops('groupby((shop), top(0))')).toEqual([[], [], []]);
  });

  it('computes and keeps records at once, and takes conditions on computed values', async () => {
    const rows = await rowsOf('groupby((shop), aggregate($count as n, amount with sum as s) then filter(n gt 2) then orderby(amount desc) then top(1))'); // prettier-ignore
    expect(rows).toEqual([{ shop: 'north', n: 3, s: 40, top: [expect.objectContaining({ id: 's2' })] }]);
    expect(rows).toHaveLength(1);
  });

  it('filters inside groups without losing groups', async () => {
    expect(await rowsOf('groupby((shop), filter(paid eq true) then aggregate($count as n, amount with sum as s, amount with countdistinct as d))')).toEqual([
      { shop: null, n: 0, s: null, d: 0 },
      { shop: 'north', n: 2, s: 10, d: 1 },
      { shop: 'south', n: 1, s: 20, d: 1 },
    ]); // prettier-ignore
    const kept = await rowsOf('groupby((shop), filter(amount gt 10) then orderby(amount) then top(5))');
    expect(kept.map(({ top }) => idsOf(top as []))).toEqual([[], ['s2'], ['s4', 's5']]);
    const first = await rowsOf('groupby((shop), filter(amount gt 10) then top(1))');
    expect(first.map(({ top }) => idsOf(top as []))).toEqual([[], ['s2'], ['s5']]);
    expect(JSON.stringify(kept)).not.toContain('__counts');
  });

  it('groups by more keys inside a group', async () => {
    const flat = await rowsOf('groupby((shop, place.city), aggregate($count as n))');
    expect(await rowsOf('groupby((shop), groupby((place.city), aggregate($count as n)))')).toEqual(flat);
    expect(await rowsOf('groupby((shop), filter(amount gt 20) then groupby((place.city)))')).toEqual([
      { shop: 'north', place: { city: 'Oslo' } },
    ]);
  });

  it('groups groups, whose top are rows', async () => {
    expect(await rowsOf('groupby((shop, place.city), aggregate($count as n)) then groupby((shop), aggregate(n with max as most, $count as cities) then orderby(n desc) then top(1)) then orderby(most desc) then top(2)')).toEqual([
      { shop: null, most: 2, cities: 1, top: [{ shop: null, place: { city: 'Rome' }, n: 2 }] },
      { shop: 'north', most: 2, cities: 2, top: [{ shop: 'north', place: { city: 'Oslo' }, n: 2 }] },
    ]); // prettier-ignore
    const nested = await rowsOf("groupby((shop, paid), top(1)) then groupby((shop), top(2)) then filter(shop eq 'south')");
    expect(nested).toMatchObject([
      {
        shop: 'south',
        top: [
          { paid: null, top: [{ id: 's5' }] },
          { paid: true, top: [{ id: 's4' }] },
        ],
      },
    ]);
  });
});
