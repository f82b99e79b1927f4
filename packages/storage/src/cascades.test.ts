import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import {
  BadgeModel,
  PersonModel,
  SeatModel,
  TeamModel,
  ToolModel,
  ofAnn,
  ofRed,
  openTeamsFixture,
} from '../test/teams-fixture.js';
import { createCascades, type Deletable } from './cascades.js';
import { defineModel, type BaseRecord, type Model, type ModelDefinition } from './model.js';

const { first, clock, collection, deleted, stored, write, reset, ...fixture } = await openTeamsFixture();
const { cascades } = first.storage;
beforeEach(reset);
afterAll(() => fixture[Symbol.asyncDispose]());

describe('what lies below a record', () => {
  it('is deleted with it, on every level, by the same deletion, and comes back with it; what lies below others stays', async () => {
    await first.teams.delete(['red']);
    expect(await deleted()).toEqual(ofRed);
    const { deletionId, deletedAt } = await stored('red');
    expect(deletionId).toEqual(expect.any(String));
    for (const id of ['ann', 'axe', 'badge of ann']) expect(await stored(id)).toMatchObject({ deletionId, deletedAt });
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: [deletionId], deletedAt });
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('is passed over by a repetition where it is done, which then goes on where the store has interrupted it', async () => {
    await first.rooms.delete(['attic']);
    const { deletionId, deletedAt } = await stored('attic');
    const deletion = { id: String(deletionId), at: deletedAt as Date };
    // no write of it again would leave this
    await write('seats', 'seat of ann', { deletedAt: new Date(0) });
    await cascades.followDown('rooms', ['attic'], deletion);
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: [deletionId], deletedAt: new Date(0) });
    await first.rooms.restore('attic');
    await write('seats', 'seat of ann', { deletedAt: new Date(0) });
    await cascades.followDown('rooms', ['attic'], deletion);
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: [], deletedAt: new Date(0) });
  });

  it('stays deleted when it was deleted before', async () => {
    await first.people.delete(['ann']);
    const { deletionId, deletedAt } = await stored('ann');
    clock.advance(1000);
    await first.teams.delete(['red']);
    expect(await stored('badge of ann')).toMatchObject({ deletionId, deletedAt });
    await first.teams.restore('red');
    expect(await deleted()).toEqual(ofAnn);
  });

  it('comes back with its own parent only, when several were deleted together', async () => {
    await first.people.delete(['ann', 'bob']);
    await first.people.restore('bob');
    expect(await deleted()).toEqual(ofAnn);
  });

  it('comes back with the parent that deleted it, also if its own change of parent was undone since', async () => {
    await first.teams.delete(['red']);
    await write('tools', 'axe', { teamId: 'blue' });
    await first.teams.restore('red');
    expect(await stored('axe')).toMatchObject({ teamId: 'blue', deletedAt: null });
    expect(await deleted()).toEqual([]);
  });

  it.each([
    ['the first deleted', ['ann', 'attic']],
    ['the last deleted', ['attic', 'ann']],
  ] as const)('lives again when the last of several deleted parents does: %s is restored first', async (_, order) => {
    const deletionOf = { ann: first.people, attic: first.rooms };
    await first.people.delete(['ann']);
    clock.advance(1000);
    await first.rooms.delete(['attic']);
    const { deletedAt } = await stored('attic');
    expect((await stored('seat of ann'))['hiddenBy']).toHaveLength(2);
    expect(await stored('seat of ann')).toMatchObject({ deletedAt });
    await deletionOf[order[0]].restore(order[0]);
    expect(await deleted()).toContain('seat of ann');
    await deletionOf[order[1]].restore(order[1]);
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: [], deletedAt: null });
    expect(await deleted()).toEqual([]);
  });

  it('costs one write for each model, and one read for each that has others below it', async () => {
    const operations: string[] = [];
    first.at('run people.delete children', () => first.storage.onOperation((operation) => operations.push(operation)));
    await first.people.delete(['ann']);
    // the parent before and after, badges, seats; the end of the unit
    expect(operations).toEqual(['find', 'updateMany', 'updateMany', 'find', 'deleteOne']);
    operations.splice(0);
    await first.tools.delete(['axe']);
    expect(operations.filter((operation) => operation === 'find')).toHaveLength(1);
    expect(operations.filter((operation) => operation === 'updateMany')).toHaveLength(1);
  });

  it('is written in parts where there are very many parents: a command has room for some of their ids only', async () => {
    const many = Array.from({ length: 10_001 }, (_, n) => ({ _id: `p${n}`, teamId: 'red', deletedAt: null }));
    await collection('people').insertMany(many as never);
    await write('badges', 'badge of zoe', { personId: 'p0' });
    await write('badges', 'badge of bob', { personId: 'p10000' });
    const operations: string[] = [];
    first.at('run teams.delete children', () => first.storage.onOperation((operation) => operations.push(operation)));
    await first.teams.delete(['red']);
    // people and tools; badges and seats in two parts each
    expect(operations.filter((operation) => operation === 'updateMany')).toHaveLength(6);
    expect(await deleted()).toEqual(expect.arrayContaining(['badge of zoe', 'badge of bob', 'badge of ann', 'p0', 'p10000']));
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('is announced, once for each change, to all listeners of its collection', async () => {
    const changes: string[] = [];
    for (const name of ['badges', 'people', 'tools']) cascades.onChange(name, () => changes.push(name));
    cascades.onChange('badges', () => changes.push('badges too'));
    await first.people.delete(['ann']);
    expect(changes).toEqual(['badges', 'badges too']);
    changes.splice(0);
    await first.people.restore('ann');
    expect(changes).toEqual(['badges', 'badges too']);
    changes.splice(0);
    await first.teams.delete(['red']);
    expect(changes.toSorted()).toEqual(['badges', 'badges too', 'people', 'tools']);
  });
});

describe('a parent that changes while what lies below it is written', () => {
  const one = { id: 'deletion 1', at: new Date('2026-02-01') };
  const two = { id: 'deletion 2', at: new Date('2026-02-02') };
  const remove = (id: string, { id: deletionId, at }: typeof one) => write('teams', id, { deletionId, deletedAt: at });
  const restore = (id: string) => write('teams', id, { deletedAt: null });

  /** Cascades that do something after their first read of the teams. */
  function interrupted(action: () => Promise<void>) {
    const definitions = [TeamModel, PersonModel, BadgeModel, ToolModel, SeatModel] as unknown as ModelDefinition<BaseRecord>[];
    const models = new Map(
      definitions.map((definition) => [definition.collectionName, { definition, model: first.storage.model(definition) }]),
    );
    const { collection: teams } = first.storage.model(TeamModel);
    let isRead = false;
    const watched: object = Object.assign(Object.create(teams), {
      find: (...given: Parameters<typeof teams.find>) => ({
        async toArray() {
          const found = await teams.find(...given).toArray();
          if (!isRead) await action();
          isRead = true;
          return found;
        },
      }),
    });
    const definition = TeamModel as unknown as ModelDefinition<BaseRecord>;
    models.set('teams', { definition, model: { collection: watched } as Model<BaseRecord> });
    return createCascades(models);
  }

  it('to restored leaves all below it live', async () => {
    await remove('red', one);
    const { followDown } = interrupted(() => restore('red'));
    expect(await followDown('teams', ['red'], one)).toEqual(new Map());
    expect(await deleted()).toEqual([]);
  });

  it('to deleted leaves all below it deleted, by the new deletion', async () => {
    await first.teams.delete(['red']);
    const { deletionId, deletedAt } = await stored('red');
    await restore('red');
    const { followDown } = interrupted(() => remove('red', two));
    const found = await followDown('teams', ['red'], { id: deletionId as string, at: deletedAt as Date });
    expect(found).toEqual(new Map([['red', two]]));
    expect(await deleted()).toEqual(ofRed);
    expect(await stored('badge of ann')).toMatchObject({ deletionId: two.id, deletedAt: two.at });
  });

  it('to deleted by another deletion leaves all below it with that one', async () => {
    await remove('red', one);
    const { followDown } = interrupted(() => remove('red', two));
    await followDown('teams', ['red'], one);
    for (const id of ['ann', 'axe', 'badge of ann']) expect(await stored(id)).toMatchObject({ deletionId: two.id });
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: [two.id] });
  });

  it.each(['red', 'blue'])('changes nothing below the other of two that were deleted together: %s is restored', async (id) => {
    await remove('red', one);
    await remove('blue', one);
    const { followDown } = interrupted(() => restore(id));
    await followDown('teams', ['red', 'blue'], one);
    expect(await deleted()).toEqual(id === 'blue' ? ofRed : ['badge of bob', 'blue', 'bob', 'bow', 'seat of bob']);
  });
});

describe('a record written below a parent', () => {
  const deletion = { deletionId: 'deletion', deletedAt: new Date('2026-02-01') };
  beforeEach(async () => {
    await collection('people').insertMany([
      { _id: 'eve', teamId: 'red', deletedAt: null },
      { _id: 'eva', teamId: 'red', deletedAt: null },
    ] as never);
    await write('badges', 'badge of zoe', { personId: 'eve' });
  });

  it('that was deleted before is deleted with it, and all below; nothing else is', async () => {
    const changes: string[] = [];
    cascades.onChange('tools', () => changes.push('tools'));
    await write('teams', 'red', deletion);
    await cascades.followParents(PersonModel, ['eve', 'bob', 'zoe']);
    expect(await deleted()).toEqual(['badge of zoe', 'eve', 'red']);
    expect(await stored('eve')).toMatchObject(deletion);
    expect(changes).toEqual([]);
  });

  it('that lives, or that there is not, stays as it is, at the cost of a read', async () => {
    const operations: string[] = [];
    first.storage.onOperation((operation) => operations.push(operation));
    await cascades.followParents(PersonModel, ['eve']);
    expect(operations).toEqual(['distinct', 'find']);
    operations.splice(0);
    await cascades.followParents(PersonModel, ['zoe']);
    expect(operations).toEqual(['distinct']);
    await write('people', 'eve', { teamId: 'no such team' });
    await cascades.followParents(PersonModel, ['eve']);
    expect(await deleted()).toEqual([]);
  });

  it('that a host deleted, without a deletion to follow, stays as it is', async () => {
    await write('teams', 'red', { deletedAt: new Date() });
    await cascades.followParents(PersonModel, ['eve']);
    expect(await deleted()).toEqual(['red']);
  });

  it('is hidden by each of several deleted parents', async () => {
    await write('rooms', 'attic', deletion);
    await write('people', 'bob', { ...deletion, deletionId: 'deletion of bob' });
    await cascades.followParents(SeatModel, ['seat of ann', 'seat of bob']);
    expect(await stored('seat of ann')).toMatchObject({ hiddenBy: ['deletion'], deletedAt: deletion.deletedAt });
    expect(await stored('seat of bob')).toMatchObject({ hiddenBy: ['deletion of bob'] });
  });

  it('keeps the deletion of its own', async () => {
    await write('teams', 'red', deletion);
    await write('people', 'eve', { ...deletion, deletionId: 'deletion of eve' });
    await cascades.followParents(PersonModel, ['eve']);
    expect(await stored('eve')).toMatchObject({ deletionId: 'deletion of eve' });
    expect(await deleted()).toEqual(['eve', 'red']);
  });
});

describe('the parents of a record', () => {
  const has = (record: object, { cascades: by }: Pick<ModelDefinition<BaseRecord>, 'cascades'>) =>
    cascades.hasParents(record, by);

  it('live when it has none, or each of them lives', async () => {
    await write('teams', 'blue', { deletedAt: new Date() });
    expect(await has({}, PersonModel)).toBe(true);
    expect(await has({ teamId: null }, PersonModel)).toBe(true);
    expect(await has({ teamId: 'red' }, PersonModel)).toBe(true);
    expect(await has({ teamId: 'blue' }, PersonModel)).toBe(false);
    expect(await has({ teamId: 'no such team' }, PersonModel)).toBe(false);
  });

  it('do not live when one of them is deleted', async () => {
    await write('people', 'ann', { deletedAt: new Date() });
    expect(await has({ roomId: 'attic', personId: 'bob' }, SeatModel)).toBe(true);
    expect(await has({ roomId: 'attic', personId: 'ann' }, SeatModel)).toBe(false);
  });

  it('have to have a model', async () => {
    const reading = cascades.hasParents({ shipId: 'a' }, [{ with: 'ships', by: 'shipId' }]);
    await expect(reading).rejects.toThrow('A cascade names the collection ships, which has no model');
  });
});

it('stops the start when it names a collection that has no model', async () => {
  const { storage } = await openTestStorage();
  onTestFinished(() => storage.close());
  storage.model(
    defineModel<Deletable & { teamId: string }>('strays', {
      fields: { teamId: String },
      cascades: [{ with: 'taems', by: 'teamId' }],
      indexes: [],
    }),
  );
  await expect(storage.ensureIndexes()).rejects.toThrow('A cascade names the collection taems, which has no model');
});
