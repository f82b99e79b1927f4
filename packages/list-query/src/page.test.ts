import { MongoServerError, type Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import {
  ListQueryError,
  answerList,
  runListQuery,
  showRecord,
  type ListCollection,
  type ListQueryOptions,
  type Show,
} from './index.js';

const live = productDocuments(30).filter(({ deletedAt }) => !deletedAt);
const drafts = live.filter(({ status }) => status === 'draft');
let options: ListQueryOptions;
beforeAll(async () => {
  const collection: Collection<Stored> = await filled(await openTestDatabase(), 'products', productDocuments(30));
  options = { collection, cursorSecret: 'the secret of the page tests' };
});

const answer = (parameters: Record<string, string>) => answerList(products, Object.entries(parameters), options);

/** The problems of a query. */
async function problems(pairs: Iterable<readonly [string, unknown]>, run: typeof answerList = answerList): Promise<string[]> {
  const error: unknown = await run(products, pairs, options).catch((thrown: unknown) => thrown);
  if (error instanceof ListQueryError) return error.problems.map(({ message }) => message);
  throw new Error('There is no problem', { cause: error });
}

describe('an endpoint', () => {
  it('pages by page and limit by default', async () => {
    const page = await answer({});
    expect(page).toMatchObject({
      data: live.slice(0, 10).map(({ _id }) => ({ id: _id })),
      metadata: { pagination: { page: 1, limit: 10, total: live.length, totalPages: 3, hasNext: true, hasPrev: false } },
    });
    expect(page).not.toHaveProperty('nextToken');
    expect(await answer({ page: '2', limit: '4', $filter: "status eq 'draft'", $orderby: 'id desc' })).toMatchObject({
      data: drafts.toReversed().slice(4, 8).map(({ _id }) => ({ id: _id })),
      metadata: { pagination: { page: 2, limit: 4, total: drafts.length, hasPrev: true } },
    }); // prettier-ignore
  });

  it('answers an empty list with one page, and a page past the end with no data', async () => {
    expect(await answer({ $filter: 'price gt 1e9' })).toEqual({
      data: [],
      metadata: { pagination: { page: 1, limit: 10, total: 0, totalPages: 1, hasNext: false, hasPrev: false } },
    });
    expect(await answer({ page: '9' })).toMatchObject({
      data: [],
      metadata: { pagination: { page: 9, hasNext: false, hasPrev: true } },
    });
  });

  it.each<Record<string, string>>([{ $top: '3' }, { $skip: '2' }, { $apply: 'groupby((status))' }])(
    'answers %j in the other envelope',
    async (parameters) => {
      expect(await answer(parameters)).toEqual(await runListQuery(products, Object.entries(parameters), options));
    },
  );

  it('accepts only one style at a time', async () => {
    expect(await problems([['page', '1'], ['limit', '5'], ['$top', '5']])).toEqual([
      "query parameter 'page' cannot be used together with '$top'",
      "query parameter 'limit' cannot be used together with '$top'",
    ]); // prettier-ignore
    expect(await problems([['limit', '5'], ['$apply', 'top(1)']])).toEqual(["query parameter 'limit' cannot be used together with '$apply'"]); // prettier-ignore
  });
});

describe('parameters', () => {
  it('are all reported, one problem each', async () => {
    const pairs = Object.entries({ $filter: 'price eq', $orderby: 'nope', $expand: 'nope', $top: '101', foo: '1', $skip: '-1' });
    expect(await problems(pairs)).toEqual([
      "query parameter '$top' must be <= 100",
      "query parameter 'foo' is not allowed",
      "query parameter '$skip' must be >= 0",
      "query parameter '$filter' needs a value instead of the end at offset 8",
      "query parameter '$expand' has the unknown relation 'nope' at offset 0",
      "query parameter '$orderby' has the unknown property 'nope' at offset 0",
    ]);
  });

  it.each<[string, string, string]>([
    ['$top', '1.5', 'must be integer'],
    ['$top', '', 'must be integer'],
    ['$top', '0x10', 'must be integer'],
    ['$top', '1e1', 'must be integer'],
    ['$top', ' 5', 'must be integer'],
    ['$top', '٣', 'must be integer'],
    ['$top', '9'.repeat(400), 'must be integer'],
    ['$skip', '50001', 'must be <= 50000'],
    ['page', '0', 'must be >= 1'],
    ['page', '1001', 'must be <= 1000'],
    ['limit', '51', 'must be <= 50'],
    ['$filter[$ne]', 'x', 'is not allowed'],
    ['$top[]', '5', 'is not allowed'],
    ['$FILTER', 'price eq 1', 'is not allowed'],
    ['$orderby', 'price, name, price', "names 'price' twice at offset 13"],
    ['__proto__', 'x', 'is not allowed'],
    ['constructor', 'x', 'is not allowed'],
  ])('%s=%s is refused', async (key, value, problem) => {
    expect(await problems([[key, value]])).toEqual([`query parameter '${key}' ${problem}`]);
  });

  it('are given once, in one spelling, as text', async () => {
    expect(await problems([['$filter', 'price eq 1'], ['$filter', 'price eq 1']])).toEqual(["query parameter '$filter' must be given once"]); // prettier-ignore
    expect(await problems([['$orderby', 'price'], ['$orderBy', 'price']])).toEqual(["query parameter '$orderBy' must be given once"]); // prettier-ignore
    for (const [key, value] of [['$filter', { $ne: null }], ['$filter', 5], ['$top', ['5']], ['$top', true], ['$skip', null]] as const)
      expect(await problems([[key, value]])).toEqual([`query parameter '${key}' must be string`]); // prettier-ignore
  });

  it('with numeric values may be numbers', async () => {
    const numbers = [['$skip', 1], ['$top', 2]] as const; // prettier-ignore
    expect(await answerList(products, numbers, options)).toEqual(await answer({ $skip: '1', $top: '2' }));
    expect(await problems([['$top', 1.5]])).toEqual(["query parameter '$top' must be integer"]);
  });

  it('of pages are unknown to a list query', async () => {
    expect(await problems([['page', '1']], runListQuery as typeof answerList)).toEqual(["query parameter 'page' is not allowed"]);
  });
});

describe('a page', () => {
  it('is read with one row more than it has, and the total', async () => {
    let documents = 0;
    const { collection } = options;
    const aggregate: ListCollection['aggregate'] = (pipeline, settings) => ({
      async toArray() {
        const found = await collection.aggregate(pipeline, settings).toArray();
        documents += found.length;
        return found;
      },
    });
    await runListQuery(products, [['$top', '3']], { ...options, collection: { ...collection, collectionName: collection.collectionName, aggregate } }); // prettier-ignore
    expect(documents).toBe(3 + 1 + 1);
  });

  it('has no row that nobody may see', async () => {
    const show: Show = (record) => (record['status'] === 'draft' ? undefined : showRecord(record));
    const wanted = live.slice(0, 5).filter(({ status }) => status !== 'draft').map(({ _id }) => _id); // prettier-ignore
    for (const parameters of [{ $top: '5' }, { $top: '5', $apply: 'top(100)' }]) {
      const { value, count, total } = await runListQuery(products, Object.entries(parameters), { ...options, show });
      expect(value.map(({ id }) => id)).toEqual(wanted);
      expect([count, total]).toEqual([wanted.length, live.length]);
    }
    const groups = await runListQuery(products, [['$apply', 'groupby((status), top(1))']], { ...options, show });
    expect(groups.value.map(({ status, top }) => [status, (top as unknown[]).length])).toEqual([['archived', 1], ['draft', 0], ['live', 1]]); // prettier-ignore
  });

  it('fails as the store fails', async () => {
    for (const apply of [[], [['$apply', 'top(1)']]] as [string, string][][])
      await expect(runListQuery(products, apply, { ...options, scope: { $nope: 1 } })).rejects.toThrow(MongoServerError);
  });
});

it.each([[{}], [{ $apply: 'orderby(price) then top(3)' }], [{ $apply: 'groupby((status), orderby(price) then top(3))' }]])(
  'rows are completed once, when all are shown, before the answer (%j)',
  async (parameters: Record<string, string>) => {
    const shown: { id: unknown; isComplete?: boolean }[] = [];
    let times = 0;
    await answerList(products, Object.entries(parameters), {
      ...options,
      show(record) {
        shown.push(showRecord(record) as { id: unknown });
        return shown.at(-1);
      },
      async complete() {
        await new Promise((resolve) => setImmediate(resolve));
        times += 1;
        for (const one of shown) one.isComplete = true;
      },
    });
    expect(shown.length).toBeGreaterThan(2);
    expect([times, shown.every(({ isComplete }) => isComplete)]).toEqual([1, true]);
  },
);
