import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ofRed, openTeamsFixture } from '../test/teams-fixture.js';
import { isDuplicateKey, isStoreUnavailable, type BulkChange } from './index.js';

const { first, second, clock, log, collection, deleted, stored, write, reset, intents, ...fixture } = await openTeamsFixture();
const { bulkTools, bulkPeople } = first;
beforeEach(reset);
afterAll(() => fixture[Symbol.asyncDispose]());

const namesOf = async (name: string) =>
  (await collection(name).find().sort({ name: 1 }).toArray()).map((record) => record['name']);
/** The collections written by a request, in order. */
async function writesOf(request: () => Promise<unknown>): Promise<string[]> {
  const writes: string[] = [];
  first.storage.onWrite((name) => writes.push(name));
  await request();
  return [...writes];
}
/** The change of a record as it is now. */
async function change(id: string, set: Record<string, unknown>): Promise<BulkChange> {
  const { writer = null, ...record } = await stored(id);
  const before = Object.fromEntries(Object.keys(set).map((field) => [field, record[field] ?? null]));
  return { id, set, before, expected: { writer: writer as string | null } };
}
const changes = (sets: Record<string, Record<string, unknown>>) =>
  Promise.all(Object.entries(sets).map(([id, set]) => change(id, set)));
/** What the sweep did with the unit: it warns of what it undoes. */
const outcome = () => (log.lines.some(([level]) => level === 'warn') ? 'undone' : 'completed');
/** Whether the failure is the unique index of the names. */
const isNameTaken = (error: unknown) => {
  const found = isDuplicateKey(error);
  return found !== false && found.index === 'name_1_unique';
};

describe('the creation of many records', () => {
  it('stores and returns them, with ids, times and no deletion', async () => {
    const made = await bulkTools.insert([{ name: 'saw' }, { name: 'pin', teamId: 'red' }]);
    const base = { createdAt: clock.now(), updatedAt: clock.now(), deletedAt: null };
    expect(made).toMatchObject([
      { name: 'saw', ...base },
      { name: 'pin', teamId: 'red', ...base },
    ]);
    for (const record of made) expect(await stored(record._id)).toEqual(record);
    expect(made[0]?._id).not.toBe(made[1]?._id);
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup', 'pin', 'saw']);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('keeps ids that are given', async () => {
    expect(await bulkTools.insert([{ _id: 'my id', name: 'saw' }])).toMatchObject([{ _id: 'my id' }]);
    expect(await stored('my id')).toMatchObject({ name: 'saw' });
  });

  it('of none writes nothing', async () => {
    expect(await writesOf(() => bulkTools.insert([]))).toEqual([]);
    expect(await bulkTools.insert([])).toEqual([]);
  });

  it('needs no unit of work for one record without a parent that its model moves to', async () => {
    expect(await writesOf(() => bulkTools.insert([{ name: 'saw' }]))).toEqual(['tools']);
    expect(await writesOf(() => bulkTools.insert([{ name: 'pin', teamId: null }]))).toEqual(['tools']);
    expect(await writesOf(() => bulkPeople.insert([{ name: 'eve', teamId: 'red' }]))).toEqual(['people']);
    expect(await writesOf(() => bulkTools.insert([{ name: 'nut', teamId: 'red' }]))).toEqual([
      'units',
      'tools',
      'units',
      'units',
    ]);
    const two = [{ name: 'eva' }, { name: 'eli' }];
    expect(await writesOf(() => bulkPeople.insert(two))).toEqual(['units', 'people', 'units']);
    expect(await namesOf('people')).toEqual(['ada', 'ann', 'bob', 'eli', 'eva', 'eve', 'zoe']);
  });

  it('that one unique value refuses leaves nothing, and what was there', async () => {
    const refused = bulkTools.insert([{ name: 'saw' }, { name: 'bow' }, { name: 'pin' }]);
    await expect(refused).rejects.toSatisfy(isNameTaken);
    await expect(bulkTools.insert([{ name: 'bow' }])).rejects.toSatisfy(isNameTaken);
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(await intents.countDocuments()).toBe(0);
  });

  it.each([1, 2])('of %i records below a parent that is deleted meanwhile deletes these with it', async (count) => {
    first.at('run tools.insert insert', () => second.teams.delete(['red']));
    const many = [
      { _id: 'saw', name: 'saw', teamId: 'red' },
      { _id: 'pin', name: 'pin', teamId: 'blue' },
    ].slice(0, count);
    await bulkTools.insert(many);
    expect(await deleted()).toEqual([...ofRed, 'saw'].toSorted());
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('by a process that dies before it is undone: a sweep creates nothing', async () => {
    await first.dieAt('run tools.insert insert', () => bulkTools.insert([{ name: 'saw' }, { name: 'pin' }]));
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(outcome()).toBe('undone');
    expect(await intents.countDocuments()).toBe(0);
  });

  it.each(['ran tools.insert insert', 'run tools.insert parents'])(
    'by a process that dies after it is completed by a sweep, below a parent that was deleted: %s',
    async (what) => {
      const many = [{ _id: 'saw', name: 'saw', teamId: 'red' }, { name: 'pin' }];
      await first.dieAt(what, () => bulkTools.insert(many));
      await write('teams', 'red', { deletionId: 'deletion', deletedAt: clock.now() });
      await fixture.sweepLater();
      expect(await deleted()).toEqual(['red', 'saw']);
      expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup', 'pin', 'saw']);
      expect(outcome()).toBe('completed');
    },
  );

  it('by a process that dies when some of them are stored is undone', async () => {
    await first.dieAt('run tools.insert insert', () => bulkTools.insert([{ _id: 'saw', name: 'saw' }, { name: 'pin' }]));
    const { records } = await fixture.pending<{ records: object[] }>();
    await collection('tools').insertOne(records[0] as never);
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
  });

  it('by a process that stalls for longer than its lease creates nothing', async () => {
    first.stallAt('run tools.insert insert');
    await expect(bulkTools.insert([{ name: 'saw' }, { name: 'pin' }])).rejects.toSatisfy(isStoreUnavailable);
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
  });
});

describe('the update of many records', () => {
  it('changes their fields, updatedAt and writer, and nothing else', async () => {
    const before = await stored('bow');
    clock.advance(1000);
    expect(await bulkTools.update(await changes({ axe: { name: 'adze' }, bow: { teamId: 'red' } }))).toBe(true);
    const { writer } = await stored('axe');
    expect(writer).toEqual(expect.any(String));
    expect(await stored('axe')).toMatchObject({ name: 'adze', teamId: 'red', updatedAt: clock.now(), deletedAt: null });
    expect(await stored('bow')).toEqual({ ...before, teamId: 'red', updatedAt: clock.now(), writer });
    expect(await stored('cup')).not.toHaveProperty('writer');
    await bulkTools.update(await changes({ axe: { name: 'axe' } }));
    expect((await stored('axe'))['writer']).not.toBe(writer);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('costs one write beside those of its unit, and for models that move one more step', async () => {
    const [ann, ada] = [await change('ann', { name: 'Ann' }), await change('ada', { name: 'Ada' })];
    expect(await writesOf(() => bulkPeople.update([ann, ada]))).toEqual(['units', 'people', 'units']);
    const axe = await change('axe', { name: 'adze' });
    expect(await writesOf(() => bulkTools.update([axe]))).toEqual(['units', 'tools', 'units', 'units']);
  });

  it('changes none, and answers false, when one was changed since it was read', async () => {
    const [axe, bow] = [await change('axe', { name: 'adze' }), await change('bow', { name: 'arc' })];
    await second.bulkTools.update(await changes({ bow: { name: 'bend' } }));
    expect(await bulkTools.update([axe, bow])).toBe(false);
    expect(await namesOf('tools')).toEqual(['axe', 'bend', 'cup']);
    expect(await stored('axe')).toMatchObject({ writer: null });
    expect(await intents.countDocuments()).toBe(0);
  });

  it('changes none when one does not match what else is expected, or is not there', async () => {
    const [axe, bow] = [await change('axe', { name: 'adze' }), await change('bow', { name: 'arc' })];
    const expected = { ...bow.expected, deletedAt: null };
    await first.tools.delete(['bow']);
    expect(await bulkTools.update([axe, { ...bow, expected }])).toBe(false);
    expect(await bulkTools.update([axe, { ...bow, id: 'no such id' }])).toBe(false);
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(await bulkTools.update([axe, bow])).toBe(true);
    expect(await deleted()).toEqual(['bow']);
  });

  it('that is undone takes fields away that a record did not have', async () => {
    const { writer = null, ...before } = await stored('cup');
    const added = { id: 'cup', set: { teamId: 'red', name: 'mug' }, before: { name: 'cup' }, expected: { writer } };
    const overtaken = { ...(await change('bow', { name: 'fiddle' })), expected: { writer: 'somebody' } };
    expect(await bulkTools.update([added as BulkChange, overtaken])).toBe(false);
    const after = await stored('cup');
    expect(after).toMatchObject({ name: 'cup', writer });
    expect(Object.keys(after)).not.toContain('teamId');
    expect(before).not.toHaveProperty('teamId');
  });

  it('of two processes at once is done by one of them', async () => {
    const wanted = await changes({ axe: { name: 'a' }, bow: { name: 'b' } });
    const answers = await Promise.all([bulkTools.update(wanted), second.bulkTools.update(wanted)]);
    expect(answers.filter(Boolean).length).toBeLessThanOrEqual(1);
    const names = answers.includes(true) ? ['a', 'b', 'cup'] : ['axe', 'bow', 'cup'];
    expect(await namesOf('tools')).toEqual(names);
  });

  it('that one unique value refuses changes none', async () => {
    const wanted = await changes({ axe: { name: 'adze' }, bow: { name: 'cup' } });
    await expect(bulkTools.update(wanted)).rejects.toSatisfy(isNameTaken);
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('to a parent that is deleted meanwhile deletes the records with it', async () => {
    first.at('run tools.update update', () => second.teams.delete(['red']));
    expect(await bulkTools.update(await changes({ bow: { teamId: 'red' }, cup: { name: 'mug' } }))).toBe(true);
    expect(await deleted()).toEqual([...ofRed, 'bow'].toSorted());
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it.each([null, 'blue'])(
    'that is undone brings a record back to its parent, which was deleted meanwhile: from %s',
    async (teamId) => {
      const [axe, bow] = [await change('axe', { teamId }), await change('bow', { name: 'arc' })];
      await write('tools', 'bow', { writer: 'another' });
      first.at('undo tools.update update', () => second.teams.delete(['red']));
      expect(await bulkTools.update([axe, bow])).toBe(false);
      expect(await stored('axe')).toMatchObject({ teamId: 'red' });
      expect(await deleted()).toEqual(ofRed);
    },
  );

  it('by a process that dies before it is undone: a sweep changes nothing', async () => {
    const wanted = await changes({ axe: { name: 'adze' }, bow: { name: 'arc' } });
    await first.dieAt('run tools.update update', () => bulkTools.update(wanted));
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(outcome()).toBe('undone');
    expect(await intents.countDocuments()).toBe(0);
  });

  it('by a process that dies when some are written is undone for these alone', async () => {
    const wanted = await changes({ axe: { name: 'adze' }, bow: { name: 'arc' } });
    await first.dieAt('run tools.update update', () => bulkTools.update(wanted));
    const { writer } = await fixture.pending<{ writer: string }>();
    await write('tools', 'axe', { name: 'adze', writer });
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
    expect(await stored('axe')).toMatchObject({ writer: null });
    expect(outcome()).toBe('undone');
  });

  it.each(['ran tools.update update', 'run tools.update parents'])(
    'by a process that dies after it is completed by a sweep, also for records that others have changed since: %s',
    async (what) => {
      const wanted = await changes({ bow: { teamId: 'red' }, cup: { name: 'mug' } });
      await first.dieAt(what, () => bulkTools.update(wanted));
      await second.bulkTools.update(await changes({ cup: { name: 'cap' } }));
      await write('teams', 'red', { deletionId: 'deletion', deletedAt: clock.now() });
      await fixture.sweepLater();
      expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cap']);
      expect(await deleted()).toEqual(['bow', 'red']);
      expect(outcome()).toBe('completed');
      expect(await intents.countDocuments()).toBe(0);
    },
  );

  it('by a process that stalls for longer than its lease changes nothing', async () => {
    first.stallAt('run tools.update update');
    await expect(bulkTools.update(await changes({ axe: { name: 'adze' } }))).rejects.toSatisfy(isStoreUnavailable);
    await fixture.sweepLater();
    expect(await namesOf('tools')).toEqual(['axe', 'bow', 'cup']);
  });
});

it('what one intent cannot hold is refused, and nothing is written', async () => {
  const name = 'x'.repeat(5 * 1024 * 1024);
  const large = await changes({ axe: { name }, bow: { name } });
  const refused = async () => {
    await expect(bulkTools.update(large)).rejects.toThrow('too large');
    await expect(bulkTools.insert([{ name }, { name }])).rejects.toThrow('too large');
  };
  expect(await writesOf(refused)).toEqual([]);
});
