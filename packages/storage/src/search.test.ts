import { afterAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { containing, defineModel, searching, type Live } from './index.js';
import { SEARCH, lacksSearch, searchOf, withSearch } from './search.js';

interface Loaf extends Live {
  name: string;
  note: string | null;
}
const SEARCHED = ['name', 'note'];
const LoafModel = defineModel<Loaf>('loaves', { fields: { name: String, note: String }, searched: SEARCHED, indexes: [] });

const { storage } = await openTestStorage();
const Loaves = storage.model(LoafModel);
const raw = Loaves.db.getClient().db(Loaves.db.name).collection('loaves');
afterAll(() => storage.close());
beforeEach(async () => {
  await raw.deleteMany({});
});

const fill = (...loaves: [name: string, note?: string][]) =>
  Loaves.insertMany(loaves.map(([name, note = null]) => ({ name, note })));
const names = (rows: object[]) => rows.map((row) => String(Reflect.get(row, 'name'))).sort();
const found = async (text: string) => names(await raw.find(searching(text, SEARCHED).filter).toArray());

it('each word is found where a word of any field begins, and inside words from three letters', async () => {
  await fill(['Rye loaf', 'dark'], ['Wheat loaf', 'light, of the rye field'], ['Pumpernickel']);
  expect(await found('rye')).toEqual(['Rye loaf', 'Wheat loaf']);
  expect(await found('ry lo')).toEqual(['Rye loaf', 'Wheat loaf']);
  expect(await found('rye dark')).toEqual(['Rye loaf']);
  expect(await found('pernick')).toEqual(['Pumpernickel']);
  expect(await found('ernickels')).toEqual([]);
  expect(await found('pumpernickels')).toEqual([]);
  expect(await found('ye')).toEqual([]);
  const one = searching('rye', ['name']).filter;
  expect(names(await raw.find(one).toArray())).toEqual(['Rye loaf']);
});

it('whole words rank before beginnings, these before parts, and in each the first field before the others', async () => {
  await fill(['tour of all', 'x'], ['b', 'a tour'], ['tourist'], ['d', 'touring'], ['detour'], ['f', 'contours']);
  const ranked = async (text: string, searched = SEARCHED) => {
    const { filter, rank } = searching(text, searched);
    const rows = await raw.aggregate([{ $match: filter }, { $set: { rank } }, { $sort: { rank: 1 } }]).toArray();
    return rows.map((row) => [row['name'] as string, row['rank'] as number]);
  };
  expect(await ranked('tour')).toEqual([['tour of all', 0], ['b', 1], ['tourist', 2], ['d', 3], ['detour', 4], ['f', 5]]); // prettier-ignore
  expect(await ranked('tour of')).toEqual([['tour of all', 0]]);
  expect(await ranked('to al')).toEqual([['tour of all', 2]]);
  expect(await ranked('tour', ['note'])).toEqual([['b', 0], ['d', 2], ['f', 4]]); // prettier-ignore
});

it.each([
  ['oaf', undefined, ['Rye loaf', 'loafer', 'meatloaf']],
  ['loaf', 'at the start', ['Rye loaf', 'loafer']],
  ['ry', 'at the start', ['Rye loaf']],
  ['OATS', 'whole', ['Oats']],
  ['e lo', undefined, ['Rye loaf', 'loafer']],
] as const)('the index narrows the rows that have %s %s', async (text, place, expected) => {
  await fill(['Rye loaf'], ['Oats'], ['loafer'], ['meatloaf']);
  const filter = containing('name', text, place);
  expect(filter).toBeDefined();
  expect(names(await raw.find(filter ?? {}).toArray())).toEqual(expected);
});

it('no index narrows the rows that have one or two letters anywhere', () => {
  expect(containing('name', 'oa')).toBeUndefined();
  expect(containing('name', '+', 'whole')).toBeUndefined();
});

it('a text that several records of a write have is folded once, whatever their other fields are', () => {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => normalize.mockRestore());
  const fieldsOf = (n: number) => ({ name: `Brötchen ${n}`, description: 'Brötchen für alle' });
  for (const record of [fieldsOf(1), fieldsOf(2), fieldsOf(1)]) withSearch(record, ['name', 'description']);
  const folded = normalize.mock.contexts.map(String).filter((text) => text.startsWith('Brötchen'));
  expect(folded).toEqual(['Brötchen 1', 'Brötchen für alle', 'Brötchen 2']);
});

it('of a field without text nothing is kept, and of a record without searched fields nothing at all', () => {
  expect(searchOf({ name: 5, note: null }, SEARCHED)).toEqual({ name: { words: '  ', grams: [] }, note: { words: '  ', grams: [] } }); // prettier-ignore
  expect(searchOf({ name: 'Rye, rye loaf' }, ['name'])['name']?.words).toBe(' rye loaf ');
  expect(withSearch({ name: 'Rye' }, [])).toEqual({ name: 'Rye' });
});

it('completion finds the records that lack an entry of any field, in batches, once', async () => {
  await raw.insertMany(Array.from({ length: 1100 }, (_, n) => ({ name: `Loaf ${n}`, note: null, deletedAt: null })));
  await fill(['Rye'], ['Oat']);
  await raw.updateOne({ name: 'Oat' }, { $unset: { [`${SEARCH}.note`]: 1 } });
  expect(await raw.countDocuments(lacksSearch(SEARCHED))).toBe(1101);
  expect((await storage.fillSearch()).get('loaves')).toBe(1101);
  expect((await storage.fillSearch()).get('loaves')).toBe(0);
  expect(await found('loaf')).toHaveLength(1100);
});

it('completion leaves alone what changed since it was read', async () => {
  await raw.insertMany(Array.from({ length: 600 }, (_, n) => ({ name: `Loaf ${n}`, note: null, deletedAt: null })));
  const completing = storage.fillSearch();
  await Promise.all([
    completing,
    ...Array.from({ length: 600 }, (_, n) => Loaves.updateOne({ name: `Loaf ${n}` }, { name: `Cake ${n}` })),
  ]);
  await storage.fillSearch();
  for (const record of await raw.find().toArray()) expect(record[SEARCH]).toEqual(searchOf(record, SEARCHED));
  expect(await found('loaf')).toEqual([]);
});
