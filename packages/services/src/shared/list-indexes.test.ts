import { operationsOf } from '@tandem/core';
import { bindListRequest, defineListResource, planList, type Field, type ListResource } from '@tandem/list-query';
import { isOnePage, listIndexes, promisesOf, resourceOfInput } from '@tandem/lists';
import { searching } from '@tandem/storage';
import { fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { notificationModel } from '../notifications/notification.model.js';

interface Explained {
  procedure: string;
  resource: ListResource;
  /** Whose list it is, where it is within a scope. */
  scope: Record<string, unknown>;
  /** Fields within which nothing is sorted in memory in the default order. */
  by: readonly string[];
  /** Orders for which nothing may be sorted in memory; undefined is the default one. */
  orders: readonly (string | undefined)[];
}

const RECORDS = 400;
const LITERALS = { string: "'v3'", number: '3', boolean: 'true', date: '2026-01-04' } as const;

const app = fixture(startTestServer);
let lists: Explained[];
beforeAll(async () => {
  const collections = new Set((await app.storage.indexReport()).map(({ collection }) => collection));
  lists = operationsOf(app.tandem.router).flatMap(({ name: procedure, schema }) => {
    const resource = schema && resourceOfInput(schema);
    // rows of a view are few, and have no collection to scan
    if (!resource || !collections.has(resource.name)) return [];
    const { within = ['no index was declared'], by = [], orders = [] } = promisesOf(resource) ?? {};
    const scope = Object.fromEntries(within.map((field) => [field, 'v0']));
    return [{ procedure, resource, scope, by, orders: [undefined, ...orders] }];
  });
  for (const name of new Set(lists.map(({ resource }) => resource.name))) await fill(name);
}, 60_000);

function collectionOf(name: string) {
  return app.storage.model(notificationModel).db.collection<Record<string, unknown>>(name);
}

/** Records with values of ten kinds in each field, and one of its own in what must be unique. */
async function fill(name: string): Promise<void> {
  const ofCollection = lists.filter(({ resource }) => resource.name === name);
  const fields = new Map(
    ofCollection.flatMap(({ resource }) => [...resource.fields.values()].map((field) => [field.path, field])),
  );
  const scoped = new Set(ofCollection.flatMap(({ scope }) => Object.keys(scope)));
  const unique = (await collectionOf(name).indexes()).filter((index) => index.unique === true);
  const single = unique.flatMap(({ key }) => Object.keys(key)).filter((path) => !scoped.has(path) && !path.includes('.'));
  const records = Array.from({ length: RECORDS }, (_, n) => {
    const values = [...fields.values()].filter(({ path }) => path !== '_id').map((field) => [field.path, valueOf(field, n)]);
    const own = Object.fromEntries(single.map((path) => [path, `${n}`]));
    // pairs of scopes may have to be unique too
    const scope = Object.fromEntries([...scoped].map((path, at) => [path, `v${at % 2 === 0 ? n % 10 : Math.floor(n / 10)}`]));
    return { _id: `record-${n}`, deletedAt: null, ...Object.fromEntries(values), ...scope, ...own };
  });
  await collectionOf(name).insertMany(records as never[]);
}

function valueOf({ path, type, isList }: Field, n: number): unknown {
  const kind = n % 10;
  if (type === 'date') return new Date(Date.UTC(2026, 0, 1 + kind, 0, path === 'createdAt' ? n : 0));
  const value = type === 'boolean' ? kind > 4 : type === 'number' ? kind : `v${kind}`;
  return isList ? [value] : value;
}

/** The store's plans for a page and for its total. */
async function plansOf(
  { resource, scope }: Explained,
  query: { filter?: string; orderby?: string | undefined; search?: string },
) {
  const found = query.search === undefined ? undefined : searching(query.search, resource.searched);
  const plan = planList(resource, { ...query, top: 20 }, { scope, ...(found && { found: { filter: found.filter } }) });
  if (plan.kind !== 'records') throw new Error('no page of records');
  const { filter, sort, projection } = plan;
  const explain = async (stages: object[]) => {
    const explained: unknown = await collectionOf(resource.name).aggregate(stages).explain('queryPlanner');
    return JSON.stringify(explained, (key, inner: unknown) => (key === 'rejectedPlans' ? undefined : inner));
  };
  return {
    page: await explain([{ $match: filter }, { $sort: sort }, { $limit: 21 }, { $project: projection }]),
    total: await explain([{ $match: filter }, { $count: 'total' }]),
  };
}

function fieldsOf({ resource }: Explained, use: 'filter' | 'sort'): Field[] {
  return [...resource.fields.values()].filter((field) => field[use]);
}

describe('every list', { timeout: 60_000 }, () => {
  it('reads an index for each order, and sorts nothing in memory for those that were promised', async () => {
    expect(lists.map(({ procedure }) => procedure)).toContain('notifications.list');
    for (const list of lists) {
      const orders = fieldsOf(list, 'sort').flatMap(({ name }) => [`${name} asc`, `${name} desc`]);
      for (const orderby of [undefined, ...orders]) {
        const { page } = await plansOf(list, { orderby });
        const where = `${list.procedure} by ${orderby}`;
        expect(page, where).not.toContain('COLLSCAN');
        expect(page, where).toContain('IXSCAN');
        expect(list.orders.includes(orderby) && page.includes('"SORT"'), where).toBe(false);
      }
    }
  });

  it('sorts nothing in memory within the fields that it is often asked for by', async () => {
    for (const list of lists) {
      for (const field of list.by) {
        const { page } = await plansOf(list, { filter: `${field} eq 'v3'` });
        expect(page, `${list.procedure} within ${field}`).not.toMatch(/COLLSCAN|"SORT"/);
      }
    }
  });

  it('reads an index for each filter, and for its total', async () => {
    for (const list of lists) {
      for (const { name, type } of fieldsOf(list, 'filter')) {
        for (const filter of [`${name} eq ${LITERALS[type]}`, `${name} ge ${LITERALS[type]}`, `${name} eq null`]) {
          const { page, total } = await plansOf(list, { filter });
          const where = `${list.procedure} where ${filter}`;
          expect(page, where).not.toContain('COLLSCAN');
          expect(total, where).not.toContain('COLLSCAN');
        }
      }
    }
  });

  it('reads an index for each search, and for parts of its searched texts', async () => {
    for (const list of lists.filter(({ resource }) => resource.searched.length > 0)) {
      const parts = list.resource.searched.flatMap((field) => [
        `contains(${field}, 'ye l')`,
        `endswith(tolower(${field}), 'loaf')`,
      ]);
      const queries = [{ search: 'rye' }, { search: 'rye internationalization 東京 a' }, ...parts.map((filter) => ({ filter }))];
      for (const query of queries) {
        const { page, total } = await plansOf(list, query);
        const where = `${list.procedure} ${JSON.stringify(query)}`;
        expect(page, where).not.toContain('COLLSCAN');
        expect(page, where).toContain('.grams');
        expect(total, where).not.toContain('COLLSCAN');
      }
    }
  });

  it('looks at no more keys than a page has and passes over, wherever that is said of it', async () => {
    const [skip, top] = [7, 20];
    for (const list of lists) {
      const { resource, scope, procedure } = list;
      const orders = fieldsOf(list, 'sort').flatMap(({ name }) => [`${name} asc`, `${name} desc`]);
      const filters = fieldsOf(list, 'filter').flatMap(({ name, type }) =>
        [`eq ${LITERALS[type]}`, `ge ${LITERALS[type]}`, 'eq null'].map((compared) => `${name} ${compared}`),
      );
      const queries = [undefined, ...orders].flatMap((orderby) => [undefined, ...filters].map((filter) => ({ orderby, filter })));
      const quick = queries.filter((query) => isOnePage(resource, scope, bindListRequest(resource, { ...query, skip, top })));
      expect(quick, procedure).toContainEqual({ orderby: undefined, filter: undefined });
      for (const query of quick) {
        const plan = planList(resource, { ...query, skip, top }, { scope });
        if (plan.kind !== 'records') throw new Error('no page of records');
        const stages = [{ $match: plan.filter }, { $sort: plan.sort }, { $skip: skip }, { $limit: top + 1 }];
        const explained = JSON.stringify(await collectionOf(resource.name).aggregate(stages).explain('executionStats'));
        const examined = [...explained.matchAll(/"totalKeysExamined":(\d+)/g)].map(([, keys]) => Number(keys));
        expect(Math.max(...examined), `${procedure} ${JSON.stringify(query)}`).toBeLessThanOrEqual(skip + top + 1);
      }
    }
  });
});

describe('the indexes of a list', () => {
  const keysOf = (...given: Parameters<typeof listIndexes>) => listIndexes(...given).map(({ keys }) => JSON.stringify(keys));
  const fields = {
    createdAt: 'date',
    title: 'string',
    price: { type: 'number', sort: false },
    note: { type: 'string', filter: false, sort: false },
  } as const;
  const things = defineListResource({ name: 'things', fields, defaultOrder: 'createdAt desc, id desc' });

  it('within a scope are those of its promised orders', () => {
    expect(keysOf(things, { within: ['ownerId'], orders: ['title desc', 'createdAt asc'] })).toEqual([
      '{"ownerId":1,"createdAt":-1,"_id":-1}',
      '{"ownerId":1,"title":-1,"_id":1}',
    ]);
  });

  it('by a field have its records in the default order too', () => {
    expect(keysOf(things, { by: ['title'] })).toContain('{"title":1,"createdAt":-1,"_id":-1}');
  });

  it('without one are those of each order, in a direction or the other, and of each filter', () => {
    expect(keysOf(things)).toEqual([
      '{"createdAt":-1,"_id":-1}',
      '{"createdAt":-1,"_id":1}',
      '{"title":1,"_id":1}',
      '{"title":-1,"_id":1}',
      '{"price":1,"createdAt":-1,"_id":-1}',
    ]);
  });
});
