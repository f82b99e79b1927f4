import type { Collection, Db } from 'mongodb';
import { defineListResource, runListQuery, type ListCollection, type ListQueryOptions, type ListResource } from '../src/index.js';
import { filled, openTestDatabase, type Stored } from './database.js';

export const people: ListResource = defineListResource({
  name: 'people',
  fields: { name: 'string' },
  hidden: ['password'],
  relations: { team: { from: 'teamId', to: 'teams.id', resource: () => teams } },
});
export const teams: ListResource = defineListResource({
  name: 'teams',
  fields: { name: 'string', code: 'string' },
  relations: { lead: { from: 'leadId', resource: people } },
});
export const tasks = defineListResource({
  name: 'tasks',
  fields: { title: 'string' },
  relations: {
    owner: { from: 'ownerId', resource: people },
    watchers: { from: 'meta.watcherIds', resource: people },
    team: { from: 'teamCode', to: 'teams.code', resource: teams },
    plain: { from: 'ownerId' },
  },
});

/** The filters of the queries for related records. */
export const asked: object[] = [];

/** The collection, recording each query. */
export function noted(collection: Collection<Stored>): ListCollection {
  return {
    collectionName: collection.collectionName,
    find(filter, settings) {
      asked.push(filter);
      return collection.find(filter, settings);
    },
    aggregate: (pipeline, settings) => collection.aggregate(pipeline, settings),
  };
}

export interface TaskLists {
  db: Db;
  options: ListQueryOptions;
  /** The tasks with these relations; clears `asked`. */
  expand(names: string, changed?: Partial<ListQueryOptions>): Promise<Record<string, unknown>[]>;
}

/** Four tasks, and the people and teams that they name. */
export async function openTasks(): Promise<TaskLists> {
  const db = await openTestDatabase();
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
  const options = { collection, relations };
  return {
    db,
    options,
    async expand(names, changed = {}) {
      asked.length = 0;
      return (await runListQuery(tasks, [['$expand', names]], { ...options, ...changed })).value;
    },
  };
}
