import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { ListQueryError, answerList, defineListResource, planList, runListQuery, type ListQueryOptions } from './index.js';

let options: ListQueryOptions;
beforeAll(async () => {
  const db = await openTestDatabase();
  const collection: Collection<Stored> = await filled(db, 'products', productDocuments(30));
  const category = await filled(db, 'categories', [{ _id: 'c1', name: 'Tea', deletedAt: null }]);
  options = { collection, cursorSecret: 'the secret of the select tests', relations: { category } };
});

const run = (parameters: Record<string, string>) => runListQuery(products, Object.entries(parameters), options);
const projectionOf = (parameters: Record<string, string>, resource = products as Parameters<typeof planList>[0]) => {
  const plan = planList(resource, parameters, {});
  return plan.kind === 'records' ? plan.projection : undefined;
};

describe('$select', () => {
  it('gives the selected fields and `id`, whole, in both answers and on every page', async () => {
    const whole = await run({ $orderby: 'price desc', $top: '30' });
    const rows = whole.value.map(({ id, ...row }) => Object.fromEntries(Object.entries({ id, ...row }).filter(([name]) => ['id', 'name', 'brand'].includes(name)))); // prettier-ignore
    const query = { $select: 'brand, name,name', $orderby: 'price desc' };
    const first = await run({ ...query, $top: '7' });
    const second = await run({ ...query, $top: '30', $nextToken: first.nextToken ?? '' });
    expect([...first.value, ...second.value]).toEqual(rows);
    const page = await answerList(products, Object.entries({ ...query, page: '2', limit: '5' }), options);
    expect(page).toMatchObject({ data: rows.slice(5, 10), metadata: { pagination: { total: whole.total } } });
    expect((await run({ ...query, $select: 'id', $top: '1' })).value).toEqual([{ id: whole.value[0]?.['id'] }]);
  });

  it('keeps related records, whatever is selected', async () => {
    const { value } = await run({ $select: 'status', $expand: 'category', $filter: "categoryId eq 'c1'", $top: '1' });
    expect(value).toEqual([{ id: expect.any(String) as string, status: expect.any(String) as string, category: { id: 'c1', name: 'Tea' } }]); // prettier-ignore
  });

  it('reads from the store what it shows, sorts by and expands, and nothing else', () => {
    expect(projectionOf({ select: 'name' })).toEqual({ _id: 1, name: 1 });
    expect(projectionOf({ select: 'name', orderby: 'price', expand: 'category' })).toEqual({ _id: 1, name: 1, price: 1, categoryId: 1 }); // prettier-ignore
    expect(projectionOf({ select: 'brand', orderby: 'brand.name' })).toEqual({ _id: 1, brand: 1 });
  });

  it('shows nothing that is hidden, even inside of a selected field', () => {
    const offers = defineListResource({ name: 'offers', fields: { 'price.amount': 'number' }, hidden: ['price.cost'] });
    expect(projectionOf({ select: 'price' }, offers)).toEqual({ 'price.cost': 0, __v: 0, deletedAt: 0 });
  });

  it.each([
    ['nope', "has the unknown property 'nope' at offset 0"],
    ['name, costPrice', "has the unknown property 'costPrice' at offset 6"],
    ['brand.name', "has the unknown property 'brand.name' at offset 0"],
    ['category', "has the unknown property 'category' at offset 0"],
    ['*', 'has an unexpected character at offset 0'],
    ['brand/name', 'lacks a space at offset 5'],
    ['', 'needs a property instead of the end at offset 0'],
    ['name,', 'needs a property instead of the end at offset 5'],
    ['name status', "needs the end instead of 'status' at offset 5"],
    [Array.from({ length: 101 }, () => 'id').join(), 'has more than 100 properties at offset 300'],
  ])('refuses %s', async (text, problem) => {
    const error: unknown = await run({ $select: text }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ListQueryError);
    expect(error).toMatchObject({ parameter: '$select', message: `query parameter '$select' ${problem}` });
  });

  it('cannot be combined with $apply, whose rows have fields of their own', async () => {
    await expect(run({ $select: 'name', $apply: 'top(1)' })).rejects.toThrow(
      "query parameter '$select' cannot be used together with '$apply'",
    );
  });
});
