import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase } from '../test/database.js';
import { defineListResource, runListQuery, type ListCollection } from './index.js';

const RANKED = 1000;
const loaves = defineListResource({
  name: 'loaves',
  fields: { name: 'string' },
  hidden: ['text'],
  searched: { fields: ['name'], path: 'text', containing: () => undefined },
  defaultOrder: 'name',
});
/** Finds all; the rank is that of the row. */
const search = () => ({ filter: {}, rank: '$rank' });

let db: Awaited<ReturnType<typeof openTestDatabase>>;
let commands = 0;
beforeAll(async () => {
  db = await openTestDatabase();
});
afterEach(() => {
  commands = 0;
});

/** Loaves of falling rank: the last one is the best. */
async function ranked(count: number, more: object = {}): Promise<ListCollection> {
  const rows = Array.from({ length: count }, (_, n) => ({ _id: String(n).padStart(5, '0'), rank: count - n, ...more }));
  const collection = await filled(db, `loaves_${count}`, rows);
  return {
    collectionName: collection.collectionName,
    find: () => expect.fail('a search reads by aggregates alone'),
    aggregate(stages, options) {
      commands += 1;
      return collection.aggregate(stages, options);
    },
  };
}
const ask = (collection: ListCollection, ...pairs: [string, string][]) =>
  runListQuery<{ id: string }>(loaves, [['$search', 'rye'], ...pairs], { collection, search });

describe('what a search finds', () => {
  it('is ranked, counted and read by one command, up to a thousand rows', async () => {
    const collection = await ranked(RANKED);
    const { total, value } = await ask(collection, ['$top', '2']);
    expect({ total, ids: value.map(({ id }) => id) }).toEqual({ total: RANKED, ids: ['00999', '00998'] });
    expect(commands).toBe(1);
    expect(await ask(collection, ['$skip', '1000'])).toMatchObject({ total: RANKED, value: [] });
    expect(await ask(collection, ['$top', '0'])).toMatchObject({ total: RANKED, value: [] });
  });

  it('is counted by another one beyond that, and the best of the first thousand come first', async () => {
    const collection = await ranked(RANKED + 5);
    const { total, value } = await ask(collection, ['$top', '1']);
    expect({ total, ids: value.map(({ id }) => id) }).toEqual({ total: RANKED + 5, ids: ['00999'] });
    const last = await ask(collection, ['$skip', '999']);
    expect(last.value.map(({ id }) => id)).toEqual(['00000', '01000', '01001', '01002', '01003', '01004']);
    expect(last.total).toBe(RANKED + 5);
  });

  it('may be more than one document of the store can hold', async () => {
    const collection = await ranked(100, { name: 'x'.repeat(200_000) });
    expect(await ask(collection, ['$top', '100'])).toMatchObject({ total: 100, count: 100 });
  });

  it('may be nothing', async () => {
    expect(await ask(await ranked(0))).toMatchObject({ total: 0, value: [] });
  });
});
