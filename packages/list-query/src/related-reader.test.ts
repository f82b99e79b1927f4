import { beforeAll, expect, it } from 'vitest';
import { openTasks, type TaskLists } from '../test/tasks.js';
import { filled } from '../test/database.js';
import { bindExpand, defineListResource, expandOne, parseExpand, runListQuery, type RelatedReader } from './index.js';

let { db } = {} as TaskLists;
beforeAll(async () => {
  ({ db } = await openTasks());
});

const PRODUCTS = new Map([
  ['rye', { id: 'rye', name: 'Rye' }],
  ['oat', { id: 'oat', name: 'Oat' }],
]);
const asked: (readonly string[])[] = [];
const product: RelatedReader = {
  read(ids) {
    asked.push(ids);
    return Promise.resolve(new Map([...PRODUCTS].filter(([id]) => ids.includes(id))));
  },
};
const orders = defineListResource({
  name: 'orders',
  fields: {},
  relations: { 'items.product': { from: 'items.productId' }, product: { from: 'productId' } },
});
const relations = { 'items.product': product, product };

const expanded = (shown: object, $expand: string) =>
  expandOne(shown, shown, bindExpand(parseExpand($expand), orders), { relations });

it('related records that a function finds are asked for once, by their ids, and are null where it finds none', async () => {
  const collection = await filled(db, 'orders', [
    { _id: '1', productId: 'rye', items: [{ productId: 'oat' }, { productId: 'gone' }, { productId: null }] },
    { _id: '2', productId: 7, items: [{ productId: 'oat' }] },
    { _id: '3', items: 'nothing' },
  ]);
  const { value } = await runListQuery(orders, [['$expand', 'items.product,product']], { collection, relations });
  expect(value).toMatchObject([
    { product: { name: 'Rye' }, items: [{ product: { name: 'Oat' } }, { product: null }, { product: null }] },
    { product: null, items: [{ product: { name: 'Oat' } }] },
    { product: null },
  ]);
  expect(asked).toEqual([['oat', 'gone'], ['rye']]);
});

it('the part of a row that related records are put into is shown whole, whatever is selected', async () => {
  const document = { _id: '1', productId: 'rye', items: [{ productId: 'oat', count: 2 }] };
  const collection = await filled(db, 'selectedOrders', [document]);
  const query: [string, string][] = [['$select', 'id'], ['$expand', 'items.product']]; // prettier-ignore
  const { value } = await runListQuery(orders, query, { collection, relations });
  expect(value).toEqual([{ id: '1', items: [{ productId: 'oat', count: 2, product: { id: 'oat', name: 'Oat' } }] }]);
});

it('a single record is expanded as a row of a list is', async () => {
  const shown = { id: '1', productId: 'rye', items: [{ productId: 'oat' }] };
  await expanded(shown, 'product, items.product');
  expect(shown).toMatchObject({ product: { name: 'Rye' }, items: [{ product: { name: 'Oat' } }] });
});

it('related records that a function finds count each time they appear', async () => {
  const items = Array.from({ length: 2001 }, () => ({ productId: 'rye' }));
  const shown = { id: '1', items };
  await expect(expanded(shown, 'items.product')).rejects.toThrow("'$expand' gives too much");
});

it('a list that a function finds counts as many related records as it has', async () => {
  const listOf = (count: number): RelatedReader => ({
    read: ([id = '']) => Promise.resolve(new Map([[id, Array.from({ length: count }, () => ({ id }))]])),
  });
  const watched = (count: number) => {
    const shown = { id: '1', productId: 'rye' };
    const asked = bindExpand(parseExpand('product'), orders);
    return expandOne(shown, shown, asked, { relations: { product: listOf(count) } }).then(() => shown);
  };
  expect(await watched(2000)).toMatchObject({ product: { length: 2000 } });
  await expect(watched(2001)).rejects.toThrow("'$expand' gives too much");
});
