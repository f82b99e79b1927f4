import type { Collection, Db } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { ListTimeLimitError, defineListResource, runListQuery } from './index.js';

const sales = defineListResource({
  name: 'sales',
  fields: {
    shop: 'string',
    'place.city': 'string',
    amount: 'number',
    soldAt: 'date',
    paid: 'boolean',
    tags: 'string[]',
    top: 'number',
    secretNote: { type: 'string', filter: false, sort: false, group: false, aggregate: false },
  },
  hidden: ['cost'],
  defaultOrder: 'soldAt desc',
});

const day = (n: number) => new Date(Date.UTC(2024, 0, n));
const documents = [
  { _id: 's1', shop: 'north', place: { city: 'Oslo' }, amount: 10, soldAt: day(1), paid: true, tags: ['a'], cost: 1 },
  { _id: 's2', shop: 'north', place: { city: 'Oslo' }, amount: 30, soldAt: day(2), paid: false, tags: [], cost: 1 },
  { _id: 's3', shop: 'north', place: { city: 'Bergen' }, amount: null, soldAt: day(3), paid: true, cost: 1 },
  { _id: 's4', shop: 'south', place: null, amount: 20, soldAt: day(4), paid: true, cost: 1 },
  { _id: 's5', shop: 'south', amount: 20, soldAt: day(5), paid: null, cost: 1 },
  { _id: 's6', shop: null, place: { city: 'Rome' }, soldAt: day(6), cost: 1 },
  { _id: 's7', place: { city: 'Rome' }, amount: 5, soldAt: null, cost: 1 },
  { _id: 's8', shop: 'north', amount: 1e6, soldAt: day(8), deletedAt: day(9), cost: 1 },
] satisfies Stored[];

let db: Db;
let collection: Collection<Stored>;
beforeAll(async () => {
  db = await openTestDatabase();
  collection = await filled(db, 'sales', documents);
});

async function apply(text: string, ...others: [string, string][]) {
  return runListQuery(sales, [['$apply', text], ...others], { collection });
}
const rowsOf = async (text: string, ...others: [string, string][]) => (await apply(text, ...others)).value;
const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ id }) => id);

describe('a value of another type than its field has', () => {
  let odd: Collection<Stored>;
  beforeAll(async () => {
    const [first, ...others] = documents as Stored[];
    const oddOnes = [
      { ...first, amount: 'free', soldAt: 'yesterday', shop: 5 },
      { ...first, amount: [1e9], soldAt: true, shop: { name: 'x' } },
    ];
    odd = await filled(db, 'odd', [...others, ...oddOnes.map((document, n) => ({ ...document, _id: `odd${n}` }))]);
  });
  const rowsOfOdd = async (text: string) => (await runListQuery(sales, [['$apply', text]], { collection: odd })).value;

  it('enters nothing that is computed', async () => {
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
  it('computes over what is there, and gives null over nothing', async () => {
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

  it('gives one row that the chain goes on with, also over nothing', async () => {
    expect(await rowsOf('filter(amount gt 1e9) then aggregate($count as n) then filter(n eq 0)')).toEqual([{ n: 0 }]);
    expect(await rowsOf('aggregate($count as n) then filter(n eq 0)')).toEqual([]);
    expect(await rowsOf('top(0) then aggregate($count as n, amount with sum as s) then aggregate(s with countdistinct as d, n with max as m)')).toEqual([{ d: 0, m: 0 }]); // prettier-ignore
    expect(await rowsOf('aggregate(amount with sum as s) then groupby((s), aggregate($count as n))')).toEqual([{ s: 85, n: 1 }]);
  });

  it('is paged like any other rows', async () => {
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

  it('keeps the first records of each group whole, without what is hidden', async () => {
    const rows = await rowsOf('groupby((shop), orderBy(amount desc) then top(2))');
    expect(rows.map(({ shop, top }) => [shop, idsOf(top as [])])).toEqual([
      [null, ['s7', 's6']],
      ['north', ['s2', 's1']],
      ['south', ['s4', 's5']],
    ]);
    expect(rows[1]?.['top']).toContainEqual({ id: 's1', shop: 'north', place: { city: 'Oslo' }, amount: 10, soldAt: '2024-01-01T00:00:00.000Z', paid: true, tags: ['a'] }); // prettier-ignore
  });

  it('keeps them in the order of the chain, else in that of the resource', async () => {
    const tops = async (text: string) => (await rowsOf(text)).map(({ top }) => idsOf(top as []));
    expect(await tops('groupby((shop), top(2))')).toEqual([['s6', 's7'], ['s3', 's2'], ['s5', 's4']]); // prettier-ignore
    expect(await tops('orderby(amount) then groupby((shop), top(1))')).toEqual([['s6'], ['s3'], ['s4']]);
    expect(await tops('groupby((shop), top(0))')).toEqual([[], [], []]);
  });

  it('computes and keeps at once, and takes conditions on what it computes', async () => {
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
    expect(JSON.stringify(kept)).not.toContain('__counts');
  });

  it('goes on inside a group by grouping by more', async () => {
    const flat = await rowsOf('groupby((shop, place.city), aggregate($count as n))');
    expect(await rowsOf('groupby((shop), groupby((place.city), aggregate($count as n)))')).toEqual(flat);
    expect(await rowsOf('groupby((shop), filter(amount gt 20) then groupby((place.city)))')).toEqual([
      { shop: 'north', place: { city: 'Oslo' } },
    ]);
  });

  it('groups groups, and their top are rows', async () => {
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

describe('the chain', () => {
  it('goes step by step: what is kept is kept in order, what comes later sees no more', async () => {
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3)'))).toEqual(['s2', 's4', 's5']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3) then filter(amount lt 30)'))).toEqual(['s4', 's5']);
    expect(idsOf(await rowsOf('filter(amount lt 30) then orderby(amount desc) then top(3)'))).toEqual(['s4', 's5', 's1']);
    expect(idsOf(await rowsOf('top(2)'))).toEqual(['s6', 's5']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(2) then top(3)'))).toEqual(['s2', 's4']);
    expect(idsOf(await rowsOf('orderby(amount desc) then top(3) then top(2)'))).toEqual(['s2', 's4']);
    expect(await apply('orderby(amount desc) then top(5) then top(3)', ['$top', '1'])).toMatchObject({ total: 3, count: 1 });
    expect(await rowsOf('orderby(amount desc) then top(3) then aggregate(amount with sum as s)')).toEqual([{ s: 70 }]);
  });

  it('sorts once before rows are grouped, and once between two groupings', async () => {
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
    expect(await apply('groupby((shop))', ['$top', '0'])).toEqual({ total: 3, count: 0, value: [] });
  });

  it('gives records without what is hidden', async () => {
    expect(Object.keys((await rowsOf('top(1)'))[0] ?? {})).toEqual(['id', 'shop', 'place', 'soldAt']);
  });

  it.each<[string, string]>([
    ['aggregate($count as n) then filter(amount gt 1)', "has the unknown property 'amount' at offset 35"],
    ['groupby((shop)) then orderby(amount)', "has the unknown property 'amount' at offset 29"],
    ['groupby((shop), top(1)) then filter(top eq null)', "has the unknown property 'top' at offset 36"],
    ['groupby((shop), aggregate($count as shop))', "has the name 'shop' twice at offset 26"],
    ['groupby((place.city), aggregate($count as place))', "has the name 'place' twice at offset 32"],
    ['groupby((shop), aggregate($count as top) then top(1))', "has the name 'top' twice at offset 46"],
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
    ['groupby((shop), top(101))', 'can keep 100 records of a group at most at offset 16'],
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

  it('has rows of its own, which know nothing of the stored fields', async () => {
    await expect(apply('groupby((shop))', ['$orderby', 'amount'])).rejects.toMatchObject({ parameter: '$orderby', offset: 0 });
    await expect(apply('groupby((shop))', ['$expand', 'x'])).rejects.toMatchObject({ parameter: '$expand' });
  });
});

describe('what a transformation may cost', () => {
  it('is bounded in time: beyond it there is an error of its own', async () => {
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
    await expect(slow).rejects.toMatchObject({ status: 503, message: 'The list query was stopped by its time limit of 1 ms' });
    const list = runListQuery(sales, [['$orderby', 'shop desc, amount']], { collection: many, maxTimeMs: 1 });
    await expect(list).rejects.toThrow(ListTimeLimitError);
  });

  it('is bounded in memory: beyond it the caller is told', async () => {
    const note = 'x'.repeat(20_000);
    const records = Array.from({ length: 1000 }, (_, n) => ({ _id: String(n), amount: n % 20, note }));
    const options = { collection: await filled(db, 'big', records), maxTimeMs: 25_000 };
    await expect(runListQuery(sales, [['$apply', 'groupby((amount), top(100))']], options)).rejects.toMatchObject({
      status: 400,
      parameter: '$apply',
      message: "query parameter '$apply' asks for more than one query may hold in memory",
    });
    expect((await runListQuery(sales, [['$apply', 'groupby((amount), top(5))']], options)).count).toBe(20);
  });
});
