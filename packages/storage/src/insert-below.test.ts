import { afterAll, beforeEach, expect, it } from 'vitest';
import { TeamModel, ToolModel, openTeamsFixture } from '../test/teams-fixture.js';
import { insertBelow, isDuplicateKey } from './index.js';

const { first, collection, reset, ...fixture } = await openTeamsFixture();
const teams = first.storage.model(TeamModel);
const tools = first.storage.model(ToolModel);
beforeEach(reset);
afterAll(() => fixture[Symbol.asyncDispose]());

const namesOfTools = async () => (await collection('tools').find().sort({ name: 1 }).toArray()).map(({ name }) => name);
const saw = { name: 'saw', teamId: 'red' };
async function teamMustLive(): Promise<void> {
  if (!(await teams.exists({ _id: 'red' }))) throw new Error('no such team');
}

it('a record below a live parent is stored and returned', async () => {
  expect(await insertBelow(tools, saw, teamMustLive)).toMatchObject({ ...saw, deletedAt: null });
  expect(await namesOfTools()).toEqual(['axe', 'bow', 'cup', 'saw']);
});

it('a record below a deleted parent is not stored', async () => {
  await first.teams.delete(['red']);
  await expect(insertBelow(tools, saw, teamMustLive)).rejects.toThrow('no such team');
  expect(await namesOfTools()).toEqual(['axe', 'bow', 'cup']);
});

it('a record whose parent is deleted after it was stored, and which is deleted with it, is not kept', async () => {
  const deletedMeanwhile = async () => {
    await first.teams.delete(['red']);
    await teamMustLive();
  };
  await expect(insertBelow(tools, saw, deletedMeanwhile)).rejects.toThrow('no such team');
  expect(await namesOfTools()).toEqual(['axe', 'bow', 'cup']);
});

it('a record that a unique index refuses is undefined; what it refers to is checked all the same', async () => {
  const axe = { ...saw, name: 'axe' };
  expect(await insertBelow(tools, axe, teamMustLive)).toBeUndefined();
  // it stays live without the team
  await tools.updateOne({ _id: 'axe' }, { teamId: 'blue' });
  await first.teams.delete(['red']);
  await expect(insertBelow(tools, axe, teamMustLive)).rejects.toThrow('no such team');
  expect(await namesOfTools()).toEqual(['axe', 'bow', 'cup']);
});

it('a record whose id exists is refused, after what it refers to was checked', async () => {
  const axe = { ...saw, _id: 'axe' };
  await expect(insertBelow(tools, axe, teamMustLive)).rejects.toSatisfy((error) => isDuplicateKey(error) !== false);
  await expect(insertBelow(tools, axe, () => Promise.reject(new Error('was checked')))).rejects.toThrow('was checked');
  expect(await namesOfTools()).toEqual(['axe', 'bow', 'cup']);
});

it('any other refusal is thrown, and nothing is checked', async () => {
  const check = () => Promise.reject(new Error('was checked'));
  await expect(insertBelow(tools, { name: {} as string }, check)).rejects.toThrow('validation failed');
});
