import { mongo } from 'mongoose';
import { afterAll, expect, it, vi } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, type Live } from './index.js';

const accountModel = defineModel<Live & { email?: string }>('accounts', {
  fields: { email: String },
  traced: { kind: 'account' },
  indexes: [],
});

interface Note extends Live {
  ownerId: string;
  text: string;
}
const fields = { ownerId: String, text: String };
const letterModel = defineModel<Note>('letters', {
  fields,
  traced: { kind: 'letter' },
  indexes: [],
  people: { ownerId: { erased: 'remove' } },
});
const noteModel = defineModel<Note>('notes', {
  fields,
  traced: { kind: 'note' },
  indexes: [],
  people: { ownerId: { erased: 'remove', cleared: { text: '' } } },
});

const { storage } = await openTestStorage({ monitorCommands: true });
const Accounts = storage.model(accountModel);
const Letters = storage.model(letterModel);
const Notes = storage.model(noteModel);
await storage.ensureIndexes();
afterAll(() => storage.close());

it('the addresses that a record had are found by an index, however many other records have events', async () => {
  const { _id } = await Accounts.create({ email: 'first@example.com' });
  await Accounts.updateOne({ _id }, { $set: { email: 'second@example.com' } });
  await Accounts.updateOne({ _id }, { $unset: { email: '' } });
  await Accounts.create({ email: 'other@example.com' });
  await storage.events.last();
  const asked: { query: object }[] = [];
  Accounts.db.getClient().on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'distinct') asked.push(command as { query: object });
  });
  expect((await storage.people.emailsOf('account', _id)).toSorted()).toEqual(['first@example.com', 'second@example.com']);
  const [{ query } = { query: {} }] = asked;
  const plan = await Accounts.db.collection('events').find(query).explain('executionStats');
  expect((plan as unknown as { executionStats: object }).executionStats).toMatchObject({
    totalKeysExamined: 2,
    totalDocsExamined: 2,
  });
});

it('a record whose change is told just then stays until its end is told', async () => {
  await Letters.create({ _id: 'changed', ownerId: 'eve', text: '' });
  await storage.events.last();
  const { updateMany } = mongo.Collection.prototype;
  const marking = vi.spyOn(mongo.Collection.prototype, 'updateMany').mockImplementationOnce(async function (
    this: mongo.Collection,
    ...given
  ) {
    await Letters.updateOne({ _id: 'changed' }, { $set: { text: 'again' } });
    const marked = await updateMany.apply(this, given);
    await storage.events.last();
    return marked;
  });
  const eve = { id: 'eve', emails: [] };
  const erase = () => storage.people.erase(eve, { blank: false });
  expect(await erase()).toMatchObject({ left: 1 });
  marking.mockRestore();
  await expect
    .poll(async () => {
      await storage.events.last();
      return (await erase()).left;
    })
    .toBe(0);
  const told = await Accounts.db.collection('events').find({ 'subject.id': 'changed' }).sort({ _id: 1 }).toArray();
  expect(told.map(({ type }) => type as string)).toEqual(['letter.created', 'letter.updated', 'letter.deleted']);
});

it('events of records that go lose what the model names, or all but ids and times', async () => {
  const mine = { ownerId: 'ann', text: 'call the clinic' };
  await Letters.create([
    { _id: 'mine', ...mine },
    { _id: 'theirs', ...mine, ownerId: 'bob' },
  ]);
  await Letters.updateOne({ _id: 'mine' }, { $set: { text: 'call the clinic again' } });
  await Notes.create({ _id: 'note', ...mine });
  const ann = { id: 'ann', emails: [] };
  const settings = { blank: false };
  await expect
    .poll(async () => {
      await storage.events.last();
      const { changed, left } = await storage.people.erase(ann, settings);
      return changed + left + (await storage.people.eraseEvents(ann, settings));
    })
    .toBe(0);
  const events = await Accounts.db.collection('events').find({ type: { $in: [/^letter/, /^note/] } }).sort({ _id: 1 }).toArray(); // prettier-ignore
  const shown = events.map(({ type, state }) => [type, state]);
  const time = expect.any(Date) as Date;
  const emptied = { _id: 'mine', ownerId: 'ann', createdAt: time, updatedAt: time };
  expect(shown.filter(([, { _id }]) => _id === 'mine')).toEqual([
    ['letter.created', { ...emptied, deletedAt: null }],
    ['letter.updated', { ...emptied, deletedAt: null }],
    ['letter.deleted', { ...emptied, deletedAt: time }],
  ]);
  expect(shown.filter(([, { _id }]) => _id === 'theirs')).toMatchObject([['letter.created', { text: 'call the clinic' }]]);
  expect(shown.filter(([, { _id }]) => _id === 'note')).toMatchObject([
    ['note.created', { ownerId: 'ann', text: '' }],
    ['note.deleted', { ownerId: 'ann', text: '' }],
  ]);
});
