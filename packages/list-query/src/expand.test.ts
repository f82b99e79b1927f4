import { Decimal128, ObjectId, type Collection, type Db } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import {
  createGate,
  defineListResource,
  runListQuery,
  showRecord,
  type Gate,
  type ListCollection,
  type ListQueryOptions,
  type ListResource,
  type Show,
} from './index.js';

const people: ListResource = defineListResource({
  name: 'people',
  fields: { name: 'string' },
  hidden: ['password'],
  relations: { team: { from: 'teamId', to: 'teams.id', resource: () => teams } },
});
const teams: ListResource = defineListResource({
  name: 'teams',
  fields: { name: 'string', code: 'string' },
  relations: { lead: { from: 'leadId', resource: people } },
});
const tasks = defineListResource({
  name: 'tasks',
  fields: { title: 'string' },
  relations: {
    owner: { from: 'ownerId', resource: people },
    watchers: { from: 'meta.watcherIds', resource: people },
    team: { from: 'teamCode', to: 'teams.code', resource: teams },
    plain: { from: 'ownerId' },
  },
});

let db: Db;
let options: ListQueryOptions;
/** The filters of the queries for related records. */
const asked: object[] = [];

/** The collection, recording each query. */
function noted(collection: Collection<Stored>): ListCollection {
  return {
    collectionName: collection.collectionName,
    find(filter, settings) {
      asked.push(filter);
      return collection.find(filter, settings);
    },
    aggregate: (pipeline, settings) => collection.aggregate(pipeline, settings),
  };
}

beforeAll(async () => {
  db = await openTestDatabase();
  const persons = noted(
    await filled(db, 'people', [
      { _id: 'ann', name: 'Ann', teamId: 't1', password: 'secret', bornAt: new Date(0), deletedAt: null },
      { _id: 'bob', name: 'Bob', teamId: 'gone', password: 'secret' },
      { _id: 'eve', name: 'Eve', teamId: 't1', password: 'secret', deletedAt: new Date() },
    ]),
  );
  const groups = noted(await filled(db, 'teams', [{ _id: 't1', name: 'One', code: 'ONE', leadId: 'bob' }]));
  const collection = await filled(db, 'tasks', [
    { _id: '1', title: 'a', ownerId: 'ann', meta: { watcherIds: ['bob', 'eve', 'ann', 'bob'] }, teamCode: 'ONE' },
    { _id: '2', title: 'b', ownerId: 'eve', meta: null, teamCode: null },
    { _id: '3', title: 'c', ownerId: { $ne: null }, meta: { watcherIds: [] }, teamCode: 5 },
    { _id: '4', title: 'd', ownerId: 'ann' },
  ]);
  const relations = {
    owner: persons,
    watchers: persons,
    team: groups,
    plain: persons,
    'owner.team': groups,
    'team.lead': persons,
  };
  options = { collection, relations };
});

async function expand(names: string, changed: Partial<ListQueryOptions> = {}) {
  asked.length = 0;
  return (await runListQuery(tasks, [['$expand', names]], { ...options, ...changed })).value;
}
const ANN = { id: 'ann', name: 'Ann', teamId: 't1', bornAt: '1970-01-01T00:00:00.000Z' };
const BOB = { id: 'bob', name: 'Bob', teamId: 'gone' };

it('related records stand beside their ids, without their hidden fields, and are null where missing', async () => {
  const rows = await expand('owner');
  expect(rows.map(({ owner }) => owner)).toEqual([ANN, null, null, ANN]);
  expect(rows[0]).toMatchObject({ id: '1', ownerId: 'ann' });
});

it('related records are read once per relation, by ids only', async () => {
  await expand('owner');
  expect(asked).toEqual([{ _id: { $in: ['ann', 'eve'] }, deletedAt: null }]);
  await expand('owner, watchers, team');
  expect(asked).toHaveLength(3);
  const rows = await expand('owner, owner.team, owner');
  expect(rows[0]).toMatchObject({ owner: { team: { id: 't1' } } });
  expect(asked).toHaveLength(2);
  await expand('owner.team', { scope: { ownerId: { $exists: false } } });
  expect(asked).toEqual([]);
});

it('related records are lists for lists of ids, of the same length', async () => {
  const rows = await expand('watchers');
  expect(rows.map(({ watchers }) => watchers)).toEqual([[BOB, null, ANN, BOB], null, [], null]);
});

it('related records follow relations by other fields, and relations of relations', async () => {
  const rows = await expand('owner.team, team.lead');
  const team = { id: 't1', name: 'One', code: 'ONE', leadId: 'bob' };
  expect(rows.map(({ owner }) => owner)).toEqual([{ ...ANN, team }, null, null, { ...ANN, team }]);
  expect(rows.map((row) => row['team'])).toEqual([{ ...team, lead: BOB }, null, null, null]);
  expect(asked).toHaveLength(4);
});

it('related records show only what the caller may see of a relation, in its own form', async () => {
  const collection = (options.relations?.['owner'] ?? options.collection) as ListCollection;
  const owner = { collection, scope: { name: 'Bob' }, show: ({ name }: Record<string, unknown>) => ({ name }) };
  expect((await expand('owner', { relations: { owner } })).map((row) => row['owner'])).toEqual([null, null, null, null]);
  const everybody = { ...owner, scope: {} };
  expect((await expand('owner', { relations: { owner: everybody } }))[0]).toMatchObject({ owner: { name: 'Ann' } });
});

it('related records are null where nobody may see the record', async () => {
  const collection = (options.relations?.['owner'] ?? options.collection) as ListCollection;
  const owner = { collection, show: () => undefined };
  expect((await expand('owner.team', { relations: { ...options.relations, owner } })).map((row) => row['owner'])).toEqual([null, null, null, null]); // prettier-ignore
});

it('related records go into their own row, where some rows are hidden', async () => {
  const show: Show = (record) => (record['_id'] === '1' ? undefined : showRecord(record));
  expect((await expand('owner', { show })).map(({ id, owner }) => [id, owner])).toEqual([['2', null], ['3', null], ['4', ANN]]); // prettier-ignore
});

it('related records are found by ids of every type, each by its own type, and by nothing that is not an id', async () => {
  const code = new ObjectId();
  const coded = noted(await filled(db, 'coded', [{ _id: 'number', code: 5 }, { _id: 'object', code }])); // prettier-ignore
  const codes = [5, code, '5', code.toHexString(), Decimal128.fromString('5'), true, { code: 5 }];
  const collection = await filled(db, 'codes', codes.map((teamCode, n) => ({ _id: `${n}`, teamCode }))); // prettier-ignore
  const rows = await expand('team', { collection, relations: { team: coded } });
  expect(rows.map(({ team }) => (team as { id: string } | null)?.id)).toEqual(['number', 'object', ...Array(5).fill(undefined)]);
  expect(asked).toEqual([{ code: { $in: codes.slice(0, 4) }, deletedAt: null }]);
});

it("related records leave out deleted ones, unless their kind has no soft delete, and the store's own fields", async () => {
  const kept = defineListResource({ name: 'people', fields: {}, softDelete: false });
  const resource = defineListResource({
    name: 'tasks',
    fields: {},
    relations: { kept: { from: 'ownerId', resource: kept }, plain: { from: 'ownerId' } },
  });
  const collection = (options.relations?.['owner'] ?? options.collection) as ListCollection;
  const given = { ...options, relations: { kept: collection, plain: collection } };
  const { value } = await runListQuery(resource, [['$expand', 'kept, plain']], given);
  expect(value[0]).toMatchObject({ kept: { ...ANN, password: 'secret' }, plain: { ...ANN, password: 'secret' } });
  expect(value[1]).toMatchObject({ kept: { id: 'eve' }, plain: null });
});

it("related records fail where a declaration fails, which is not the query's fault", async () => {
  const related = (): ListResource => {
    throw new RangeError('declared in a circle');
  };
  const resource = defineListResource({
    name: 'tasks',
    fields: {},
    relations: { owner: { from: 'ownerId', resource: related } },
  });
  await expect(runListQuery(resource, [['$expand', 'owner']], options)).rejects.toThrow(new RangeError('declared in a circle'));
});

it('related records go into the records that a transformation leaves', async () => {
  const { value } = await runListQuery(tasks, [['$apply', 'orderby(title desc) then top(1)'], ['$expand', 'owner']], options); // prettier-ignore
  expect(value).toMatchObject([{ id: '4', owner: ANN }]);
});

it.each<[string, string]>([
  ['nope', "has the unknown relation 'nope' at offset 0"],
  ['owner, title', "has the unknown relation 'title' at offset 7"],
  ['owner.nope', "has the unknown relation 'owner.nope' at offset 0"],
  ['plain.team', "has the unknown relation 'plain.team' at offset 0"],
  ['owner.team.lead', 'goes deeper than 2 relations at offset 0'],
  ['__proto__', "has the unknown relation '__proto__' at offset 0"],
  ['$where', "has the unknown relation '$where' at offset 0"],
  ['owner.', "has the unknown relation 'owner.' at offset 0"],
])('%s is refused', async (names, problem) => {
  await expect(expand(names)).rejects.toMatchObject({ status: 400, message: `query parameter '$expand' ${problem}` });
});

describe('related records are limited per answer', () => {
  /** A row that names these watchers. */
  async function watchedBy(...watcherIds: string[]): Promise<ListCollection> {
    return filled(db, 'watched', [{ _id: '1', ownerId: 'ann', teamCode: 'ONE', meta: { watcherIds } }]);
  }
  const times = (count: number, id: string) => Array.from({ length: count }, () => id);
  const TOO_MUCH = { status: 400, message: "query parameter '$expand' gives too much" };

  it('counting each as often as it appears, and missing ones not at all', async () => {
    const most = await watchedBy(...times(2000, 'ann'), ...times(3000, 'eve'), 'gone');
    const [row] = await expand('watchers', { collection: most });
    expect((row as { watchers: unknown[] }).watchers.filter((one) => one !== null)).toHaveLength(2000);
    await expect(expand('watchers, owner', { collection: most })).rejects.toMatchObject(TOO_MUCH);
  });

  it('by their ids alone, without reading what is refused', async () => {
    const read: unknown[] = [];
    const people = await filled(db, 'few_people', [{ _id: 'ann', name: 'Ann' }]);
    const collection: ListCollection = {
      collectionName: people.collectionName,
      aggregate: (pipeline) => people.aggregate(pipeline),
      find(filter, settings) {
        const found = people.find(filter, settings).toArray();
        return { toArray: () => found.then((records) => (read.push(...records), records)) };
      },
    };
    const relations = { ...options.relations, watchers: collection };
    const most = await watchedBy(...times(2001, 'ann'));
    await expect(expand('watchers', { collection: most, relations })).rejects.toMatchObject(TOO_MUCH);
    expect(read).toEqual([{ _id: 'ann' }]);
  });

  it('counting nested ones too', async () => {
    const relations = { ...options.relations, 'watchers.team': options.relations?.['team'] as ListCollection };
    const collection = await watchedBy(...times(1000, 'ann'));
    expect(await expand('watchers.team', { collection, relations })).toHaveLength(1);
    await expect(expand('watchers.team', { collection: await watchedBy(...times(1001, 'ann')), relations })).rejects.toMatchObject(TOO_MUCH); // prettier-ignore
  });

  it('and in distinct number, without reading them all', async () => {
    const names = Array.from({ length: 2001 }, (_, n) => `w${n}`);
    const many = noted(await filled(db, 'many_people', names.map((_id) => ({ _id, name: _id })))); // prettier-ignore
    const collection = await watchedBy(...names);
    const relations = { ...options.relations, watchers: many };
    await expect(expand('watchers', { collection, relations })).rejects.toMatchObject(TOO_MUCH);
    expect(await expand('watchers', { collection: await watchedBy(...names.slice(1)), relations })).toHaveLength(1);
  });

  it('and in bytes of JSON, repeats included', async () => {
    const name = 'é'.repeat(4096);
    const large = noted(await filled(db, 'large_people', [{ _id: 'ann', name }]));
    const bytes = Buffer.byteLength(JSON.stringify({ id: 'ann', name }));
    const fitting = Math.floor((4 * 1024 * 1024) / bytes);
    const relations = { ...options.relations, watchers: large };
    const fits = await expand('watchers', { collection: await watchedBy(...times(fitting, 'ann')), relations });
    expect(fits).toHaveLength(1);
    const collection = await watchedBy(...times(fitting + 1, 'ann'));
    await expect(expand('watchers', { collection, relations })).rejects.toMatchObject(TOO_MUCH);
  });

  it('and wait at the gate when they are more than a page', async () => {
    const closed = { gate: createGate({ atOnce: 0, waitMs: 10 }) };
    const ids = Array.from({ length: 101 }, (_, n) => `w${n}`);
    expect(await expand('watchers', { collection: await watchedBy(...ids.slice(1)), ...closed })).toHaveLength(1);
    await expect(expand('watchers', { collection: await watchedBy(...ids), ...closed })).rejects.toMatchObject({ status: 503 });
  });
});

describe('while related records are embedded', () => {
  const ids = Array.from({ length: 101 }, (_, n) => `w${n}`);
  const watched = async () => filled(db, 'watched', [{ _id: '1', meta: { watcherIds: ids } }]);
  const GONE = new Error('the caller has left');
  async function shownSlowly(show: () => void) {
    const slow = (record: object) => {
      show();
      for (const until = performance.now() + 6; performance.now() < until;);
      return record;
    };
    const collection = noted(await filled(db, 'slow_people', ids.slice(0, 5).map((_id) => ({ _id })))); // prettier-ignore
    return { collection: await watched(), relations: { ...options.relations, watchers: { collection, show: slow } } };
  }

  it('other callers get theirs, even while one waits for the store', async () => {
    const leaving = new AbortController();
    let waiting = 0;
    const closed: Gate = (_caller, _command, signal) => {
      waiting += 1;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(GONE)));
    };
    const collection = await watched();
    const all = Array.from({ length: 20 }, () => expand('watchers', { collection, gate: closed, signal: leaving.signal }));
    const ended = Promise.allSettled(all);
    await expect.poll(() => waiting).toBe(20);
    leaving.abort(GONE);
    expect((await ended).map((one) => (one as PromiseRejectedResult).reason as unknown)).toEqual(all.map(() => GONE));
  });

  it('the process serves other work in between, however many ask', async () => {
    let turn = 0;
    const turns: number[] = [];
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const slowly = await shownSlowly(() => turns.push(turn));
    await Promise.all([expand('watchers', slowly), expand('watchers', slowly), expand('watchers', slowly)]);
    clearImmediate(counting);
    expect(new Set(turns).size).toBe(15);
  });

  it('their caller starts no others, and pauses as long as they took', async () => {
    const times: number[] = [];
    const slowly = await shownSlowly(() => times.push(performance.now()));
    const caller = { key: 'ann', isAnonymous: false };
    await Promise.all([expand('watchers', { ...slowly, caller }), expand('watchers', { ...slowly, caller })]);
    const [first = 0, last = 0, next = 0] = [times[0], times[4], times[5]];
    // timers have whole milliseconds
    expect(next - last).toBeGreaterThan(last - first - 2);
  });

  it('the rest is dropped when the caller leaves', async () => {
    const leaving = new AbortController();
    let shown = 0;
    const slowly = await shownSlowly(() => {
      shown += 1;
      leaving.abort(GONE);
    });
    await expect(expand('watchers', { ...slowly, signal: leaving.signal })).rejects.toBe(GONE);
    expect(shown).toBe(1);
  });
});

it('related records need the collection of each requested relation', async () => {
  await expect(expand('owner', { relations: {} })).rejects.toThrow('The relation owner was given no collection');
});
