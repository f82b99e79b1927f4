import { createCountCache, defineListResource, planList, runListQuery, type ParameterPairs } from '@tandem/list-query';
import type { Collection, Db } from 'mongodb';
import type { TimesScenario } from '../scenario.js';

const FEW = 1000;
const MANY = 100_000;
/** Rows of the paged list, and the depth. */
const WALKED = 1_000_000;
const DEPTH = 50_000;
const BATCH = 20_000;
const GROUPS = 50;
/** Counting a million rows once takes longer than a list may. */
const MAX_TIME_MS = 60_000;
const SECRET = 'a secret of the benchmarks, which nobody else needs to know';

interface Row {
  _id: string;
  price: number;
  category: string;
  createdAt: Date;
  deletedAt: Date | null;
}

const things = defineListResource({
  name: 'things',
  fields: { price: 'number', category: 'string', createdAt: 'date' },
  defaultOrder: 'createdAt desc, id desc',
});

async function fill(db: Db, name: string, count: number): Promise<Collection<Row>> {
  const collection = db.collection<Row>(name);
  await collection.createIndexes([{ key: { createdAt: -1, _id: -1 } }, { key: { category: 1, price: 1, _id: 1 } }]);
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, offset): Row => {
      const at = from + offset;
      return {
        _id: String(at).padStart(9, '0'),
        price: (at * 7919) % 100_003,
        category: `category ${at % GROUPS}`,
        createdAt: new Date(1_700_000_000_000 + at * 1000),
        deletedAt: null,
      };
    });
    await collection.insertMany(rows, { ordered: false });
  }
  return collection;
}

/** The cost of `@tandem/list-query` itself, without a server, against other collections and the driver. */
export const listQueries: TimesScenario = async ({ db }) => {
  const [few, many, walked] = [await fill(db, 'few', FEW), await fill(db, 'many', MANY), await fill(db, 'walked', WALKED)];
  const countCache = createCountCache();
  // a separate name for each collection: counts are cached by name
  const pageOf = (collection: Collection<Row>, pairs: ParameterPairs) =>
    runListQuery({ ...things, name: collection.collectionName }, pairs, {
      collection,
      cursorSecret: SECRET,
      countCache,
      maxTimeMs: MAX_TIME_MS,
    });
  const without = (pairs: ParameterPairs, collection: Collection<Row>) =>
    runListQuery(things, pairs, { collection, maxTimeMs: MAX_TIME_MS });

  const deep = await pageOf(walked, [['$skip', String(DEPTH - 20)]]);
  const atDepth: ParameterPairs = [['$nextToken', deep.nextToken ?? '']];
  const text = "category eq 'category 7' and price gt 20000 and price lt 60000";
  const typical: ParameterPairs = [
    ['$filter', text],
    ['$orderby', 'price asc'],
  ];
  const filter = { deletedAt: null, category: 'category 7', price: { $gt: 20_000, $lt: 60_000 } };
  const grouped: ParameterPairs = [['$apply', 'groupby((category), aggregate(price with sum as total))']];
  const pipeline = [{ $match: { deletedAt: null } }, { $group: { _id: '$category', total: { $sum: '$price' } } }];

  return [
    {
      name: 'parsing and binding a typical query',
      of: 'time',
      target: 0.05,
      run: async () => planList(things, { filter: text, orderby: 'price asc', top: 20 }, {}),
      against: 'the whole query',
      runOther: () => without(typical, many),
    },
    {
      name: 'first page of 100,000 rows, with its total',
      of: 'time',
      target: 1.3,
      run: () => pageOf(many, []),
      against: 'the same of 1,000',
      runOther: () => pageOf(few, []),
    },
    {
      name: 'page by cursor at depth 50,000 of a million',
      of: 'time',
      target: 1.1,
      run: () => pageOf(walked, atDepth),
      against: 'its first page',
      runOther: () => pageOf(walked, []),
    },
    {
      name: '$filter and $orderby over 100,000 rows',
      of: 'time',
      target: 1.15,
      run: () => without(typical, many),
      against: 'by the driver',
      runOther: () =>
        Promise.all([many.find(filter).sort({ price: 1, _id: 1 }).limit(21).toArray(), many.countDocuments(filter)]),
    },
    {
      name: 'groupby over 100,000 rows',
      of: 'time',
      target: 1.15,
      run: () => without(grouped, many),
      against: 'by the driver',
      runOther: () => many.aggregate(pipeline).toArray(),
    },
  ];
};
