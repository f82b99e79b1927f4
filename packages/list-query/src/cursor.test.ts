import * as fc from 'fast-check';
import { Decimal128, Long, type Collection, type Db } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { meets, sorted } from '../test/plainly.js';
import { productCondition, productDocuments, productOrder, products } from '../test/products.js';
import {
  defineListResource,
  printFilter,
  printOrder,
  runListQuery,
  type ListQueryOptions,
  type ListResource,
  type ListResult,
} from './index.js';

const cursorSecret = 'the secret of the cursor tests';
const documents = productDocuments(100);
const live = documents.filter(({ deletedAt }) => !deletedAt);

let db: Db;
let collection: Collection<Stored>;
beforeAll(async () => {
  db = await openTestDatabase();
  collection = await filled(db, 'products', documents);
});

type Pairs = [string, string][];

/** All pages of a list. */
async function walk(
  pairs: Pairs,
  { resource = products, ...given }: Partial<ListQueryOptions> & { resource?: ListResource } = {},
): Promise<ListResult[]> {
  const options = { collection, cursorSecret, ...given };
  const pages: ListResult[] = [];
  let token: string | undefined;
  do {
    const page = await runListQuery(resource, token === undefined ? pairs : [...pairs, ['$nextToken', token]], options);
    pages.push(page);
    token = page.nextToken;
  } while (token !== undefined);
  return pages;
}

const idsIn = (pages: readonly ListResult[]) => pages.flatMap(({ value }) => value.map(({ id }) => id));
const idsOf = (rows: readonly Stored[]) => rows.map(({ _id }) => _id);

describe('pages by cursor', () => {
  it('equal the whole list, for any page size, in any order, and the last page is never empty', async () => {
    await fc.assert(
      fc.asyncProperty(productOrder, fc.integer({ min: 1, max: 40 }), productCondition, async (order, size, condition) => {
        const pairs: Pairs = [
          ['$orderby', printOrder(order)],
          ['$filter', printFilter(condition)],
          ['$top', String(size)],
        ];
        const pages = await walk(pairs);
        const wanted = sorted(
          live.filter((document) => meets(document, condition)),
          order,
        );
        expect(idsIn(pages)).toEqual(idsOf(wanted));
        expect(pages.length).toBe(Math.max(1, Math.ceil(wanted.length / size)));
        expect(pages.every(({ total, count, value }) => total === wanted.length && count === value.length)).toBe(true);
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it('neither lose nor repeat rows that stay, while others come and go', async () => {
    const churn = await filled(db, 'churn', productDocuments(100));
    const staying = idsOf(productDocuments(100).filter(({ deletedAt }) => !deletedAt));
    let isOver = false;
    const write = async (n = 0): Promise<void> => {
      if (isOver) return;
      // They share values with the others, so they sort between them in every order.
      const visitors = productDocuments(20).map((document, i) => ({
        ...document,
        _id: `p${String(i * 7).padStart(6, '0')}-${n}`,
      }));
      await churn.insertMany(visitors);
      await churn.updateMany({ _id: { $in: idsOf(visitors.slice(10)) } }, { $set: { deletedAt: new Date() } });
      await churn.deleteMany({ _id: { $in: idsOf(visitors) } });
      return write(n + 1);
    };
    const writing = write();
    try {
      await fc.assert(
        fc.asyncProperty(productOrder, fc.integer({ min: 1, max: 30 }), async (order, size) => {
          const pairs: Pairs = [
            ['$orderby', printOrder(order)],
            ['$top', String(size)],
          ];
          const seen = idsIn(await walk(pairs, { collection: churn }));
          const stayed = seen.filter((id) => !String(id).includes('-'));
          expect(stayed).toEqual(idsOf(sorted(productDocuments(100), order)).filter((id) => staying.includes(id)));
          expect(new Set(seen).size).toBe(seen.length);
        }),
        { seed: 11, numRuns: 25 },
      );
    } finally {
      isOver = true;
      await writing;
    }
  });

  it('may change their size, and begin after skipped rows', async () => {
    const options = { collection, cursorSecret };
    const first = await runListQuery(products, Object.entries({ $skip: '10', $top: '3' }), options);
    expect(idsIn([first])).toEqual(idsOf(live).slice(10, 13));
    const second = await runListQuery(products, Object.entries({ $top: '7', $nextToken: first.nextToken }), options);
    expect(idsIn([second])).toEqual(idsOf(live).slice(13, 20));
  });

  it('pass infinite numbers and NaN', async () => {
    const odd = [NaN, Infinity, -Infinity, null, 5, -0, NaN, Number.MAX_VALUE, 1e-300].map((price, n) => ({
      _id: `n${n}`,
      price,
    }));
    const numbers = await filled(db, 'numbers', odd);
    const ascending = ['n3', 'n0', 'n6', 'n2', 'n5', 'n8', 'n4', 'n7', 'n1'];
    expect(idsIn(await walk([['$orderby', 'price'], ['$top', '1']], { collection: numbers }))).toEqual(ascending); // prettier-ignore
    const descending = ['n1', 'n7', 'n4', 'n8', 'n5', 'n2', 'n0', 'n6', 'n3'];
    expect(idsIn(await walk([['$orderby', 'price desc'], ['$top', '1']], { collection: numbers }))).toEqual(descending); // prettier-ignore
  });

  it('pass numbers that only the store has', async () => {
    const texts = ['0.1', '7.5', '9007199254740991.3', '9007199254740993', '5'];
    const prices = [...texts.map((text) => Decimal128.fromString(text)), Long.fromString('9007199254740995'), 1, 0.3];
    await filled(db, 'store_numbers', prices.map((price, n) => ({ _id: `n${n}`, price }))); // prettier-ignore
    const ascending = ['n0', 'n7', 'n6', 'n4', 'n1', 'n2', 'n3', 'n5'];
    for (const settings of [{}, { useBigInt64: true }, { promoteValues: false }]) {
      const numbers = db.collection<Stored>('store_numbers', settings);
      for (const [direction, wanted] of [['asc', ascending], ['desc', ascending.toReversed()]] as const)
        expect(idsIn(await walk([['$orderby', `price ${direction}`], ['$top', '1']], { collection: numbers }))).toEqual(wanted); // prettier-ignore
      const grouped = await runListQuery(products, [['$apply', 'groupby((price))']], { collection: numbers });
      expect(grouped.count).toBe(prices.length);
    }
  });

  it.each(['name', 'price', 'active', 'releasedAt'])(
    'lead past values of other types at %s, which no row may have',
    async (field) => {
      const fitting =
        { name: ['a', 'b'], price: [1, 2], active: [false, true], releasedAt: [new Date(1), new Date(2)] }[field] ?? [];
      const odd = [3, 'odd', true, { a: 1 }, {}, [4, 'x'], [], new Date(3), new Uint8Array([1])].filter(
        (value) =>
          typeof value !== typeof fitting[0] ||
          (typeof value === 'object' && !(value instanceof Date && fitting[0] instanceof Date)),
      );
      const mixed = await filled(
        db,
        `mixed-${field}`,
        [...fitting, null, ...odd].map((value, n) => ({ _id: `m${n}`, [field]: value })),
      );
      for (const direction of ['asc', 'desc']) {
        const pages = await walk([['$orderby', `${field} ${direction}`], ['$top', '1']], { collection: mixed }); // prettier-ignore
        const ofFitting = idsIn(pages).filter((id) => ['m0', 'm1', 'm2'].includes(String(id)));
        expect(ofFitting).toEqual(direction === 'asc' ? ['m2', 'm0', 'm1'] : ['m1', 'm0', 'm2']);
      }
    },
  );

  it('follow the default order of the resource', async () => {
    const newestFirst = defineListResource({
      name: 'products',
      fields: { releasedAt: 'date', price: 'number' },
      defaultOrder: 'releasedAt desc, id desc',
    });
    const seen = idsIn(await walk([['$top', '9']], { resource: newestFirst }));
    const wanted = sorted(live, [
      { path: 'releasedAt', direction: 'desc' },
      { path: 'id', direction: 'desc' },
    ]);
    expect(seen).toEqual(idsOf(wanted));
  });

  it('need no cursor on the last page, and no rows where $top is 0', async () => {
    const all = await runListQuery(products, [['$filter', `id eq '${live[0]?._id}'`]], { collection, cursorSecret });
    expect(all).toEqual({ total: 1, count: 1, value: [expect.objectContaining({ id: live[0]?._id })] });
    const none = await runListQuery(products, [['$top', '0']], { collection, cursorSecret });
    expect(none).toEqual({ total: live.length, count: 0, value: [] });
  });

  it('count on from the last place behind values that are too long for a token', async () => {
    const names = ['a', 'x'.repeat(9000), 'y', '字'.repeat(3000), '字'.repeat(3000), '末'];
    const long = await filled(
      db,
      'long',
      names.map((name, n) => ({ _id: `l${n}`, name })),
    );
    const seen = idsIn(await walk([['$orderby', 'name'], ['$top', '1']], { collection: long })); // prettier-ignore
    expect(seen).toEqual(['l0', 'l1', 'l2', 'l3', 'l4', 'l5']);
  });
});
