import { Decimal128, ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { filled } from '../test/database.js';
import { asked, noted, openTasks, tasks, type TaskLists } from '../test/tasks.js';
import { defineListResource, runListQuery, showRecord, type ListCollection, type ListResource, type Show } from './index.js';

let { db, options, expand } = {} as TaskLists;
beforeAll(async () => {
  ({ db, options, expand } = await openTasks());
});

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

it('related records need the collection of each requested relation', async () => {
  await expect(expand('owner', { relations: {} })).rejects.toThrow('The relation owner was given no collection');
});
