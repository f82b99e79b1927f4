import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, searching, type Live } from './index.js';
import { SEARCH, searchOf } from './search.js';

interface Note extends Live {
  title: string | null;
  text?: string;
  stars?: number;
}
const SEARCHED = ['title', 'text'];
const NoteModel = defineModel<Note>('notes', {
  fields: { title: String, text: String, stars: Number },
  searched: SEARCHED,
  indexes: [],
});

const { storage } = await openTestStorage();
const Notes = storage.model(NoteModel);
const { collection } = Notes;
afterAll(() => storage.close());
beforeEach(async () => {
  await collection.deleteMany({});
  await Notes.insertMany([
    { _id: 'one', title: 'Rye loaf', text: 'dark' },
    { _id: 'two', title: 'Oat cake', text: 'light' },
  ]);
});

const byId = (_id: string) => ({ _id }) as object;
/** All records as they are stored. */
async function stored(): Promise<Record<string, unknown>[]> {
  const raw = Notes.db.getClient().db(Notes.db.name).collection('notes');
  return raw.find({}, { sort: { _id: 1 } }).toArray();
}
/** Each record is found by what it holds, and by nothing else. */
async function expectFound(count = 2): Promise<void> {
  const records = await stored();
  expect(records).toHaveLength(count);
  for (const record of records) expect(record[SEARCH], String(record['_id'])).toEqual(searchOf(record, SEARCHED));
}

describe('what finds a record agrees with it after', () => {
  const pipeline = (value: unknown) => [{ $set: { stars: 1 } }, { $set: { title: value } }];
  it.each<[name: string, write: () => Promise<unknown>]>([
    ['inserts', async () => {}],
    ['insertOne', () => collection.insertOne({ _id: 'three', title: 'Third' } as never)],
    ['updateOne', () => Notes.updateOne(byId('one'), { title: 'Émile' })],
    ['updateMany', () => Notes.updateMany({}, { $set: { text: 'same for all' } })],
    ['an update of another field', () => Notes.updateMany({}, { $inc: { stars: 1 } })],
    ['findOneAndUpdate', () => Notes.findByIdAndUpdate('one', { $set: { title: 'found' }, $inc: { stars: 1 } })],
    ['a text that is taken away', () => Notes.updateOne(byId('one'), { $unset: { text: 1 } })],
    ['a text that becomes null', () => Notes.updateOne(byId('one'), { title: null })],
    ['an upsert', () => Notes.updateOne(byId('three'), { $setOnInsert: { title: 'new', text: 'one' } }, { upsert: true })],
    ['an upsert that sets and inserts', () => Notes.updateOne(byId('three'), { $set: { title: 'set' }, $setOnInsert: { text: 'inserted' } }, { upsert: true })], // prettier-ignore
    ['a pipeline', () => collection.updateOne(byId('one'), pipeline('piped'))],
    ['a pipeline with a literal', () => collection.updateOne(byId('one'), pipeline({ $literal: '$5 loaf' }))],
    ['a pipeline with null', () => collection.updateOne(byId('one'), pipeline(null))],
    ['replaceOne', () => collection.replaceOne(byId('one'), { title: 'replaced' })],
    ['findOneAndReplace', () => collection.findOneAndReplace(byId('one'), { text: 'replaced' })],
    ['a bulk write', () => collection.bulkWrite([
      { insertOne: { document: { _id: 'three', title: 'bulk' } as never } },
      { updateOne: { filter: byId('one'), update: { $set: { title: 'changed in bulk' } } } },
      { updateMany: { filter: {}, update: { $set: { stars: 2 } } } },
      { replaceOne: { filter: byId('two'), replacement: { title: 'replaced in bulk' } } },
    ])], // prettier-ignore
    ['a deletion and a restore', async () => {
      await Notes.deleteOne(byId('one'));
      await Notes.restore('one');
    }], // prettier-ignore
  ])('%s', async (_, write) => {
    await write();
    await expectFound((await stored()).length);
  });

  it('concurrent changes of its fields, and a completion at the same time', async () => {
    const raw = Notes.db.getClient().db(Notes.db.name).collection('notes');
    await raw.updateMany({}, { $unset: { [SEARCH]: 1 } });
    await Promise.all([
      storage.fillSearch(),
      ...Array.from({ length: 20 }, (_, n) =>
        Notes.updateOne(byId('one'), n % 2 ? { title: `title ${n}` } : { text: `text ${n}` }),
      ),
      storage.fillSearch(),
      Notes.updateOne(byId('two'), { $unset: { text: 1 } }),
    ]);
    await storage.fillSearch();
    await expectFound();
  });
});

it.each<[write: () => Promise<unknown>, refusal: string]>([
  [() => collection.updateOne(byId('one'), { $push: { title: 'x' } } as never), '$push cannot change the searched field title'],
  [() => collection.updateOne(byId('one'), { $rename: { title: 'name' } }), '$rename cannot change the searched field title'],
  [() => collection.updateOne(byId('one'), [{ $set: { title: { $concat: ['$text', '!'] } } }]), 'The searched field title needs a value, not an expression'],
  [() => collection.updateOne(byId('one'), [{ $set: { title: '$text' } }]), 'The searched field title needs a value, not an expression'],
  [() => collection.updateOne(byId('one'), [{ $unset: 'title' }]), '$unset cannot change a record with searched fields'],
  [() => collection.updateOne(byId('one'), [{ $replaceWith: '$$ROOT' }]), '$replaceWith cannot change a record with searched fields'],
  [() => collection.updateOne(byId('one'), [{ $project: { text: 1 } }]), '$project cannot change a record with searched fields'],
])('a write whose searched value storage cannot know is refused: %#', async (write, refusal) => {
  await expect(async () => write()).rejects.toThrow(refusal);
  await expectFound();
}); // prettier-ignore

it('what finds records is in no read, and finds them', async () => {
  const { filter } = searching('ry', SEARCHED);
  expect(await collection.find(filter as object).toArray()).toMatchObject([{ _id: 'one' }]);
  const reads = [
    await Notes.find().lean(),
    await Notes.findById('one').lean(),
    await collection.find({}, { projection: { text: 0 } }).toArray(),
    await collection.find({}, { projection: { _id: 0 } }).toArray(),
    await Notes.findByIdAndUpdate('one', { title: 'other' }, { returnDocument: 'after' }).lean(),
    await collection.findOneAndReplace(byId('one'), { title: 'again' }),
    await collection.findOneAndDelete(byId('one')),
  ];
  for (const read of reads) expect(JSON.stringify(read)).not.toContain(SEARCH);
  for (const read of reads) expect(JSON.stringify(read).length).toBeGreaterThan(20);
  expect(await collection.find({}, { projection: { _id: 1 } }).toArray()).toEqual([{ _id: 'two' }]);
  expect(await collection.find({}, { projection: { title: 1, _id: 0 } }).toArray()).toEqual([{ title: 'Oat cake' }]);
});
