import { afterAll, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, type Live } from './index.js';

const accountModel = defineModel<Live & { email?: string }>('accounts', {
  fields: { email: String },
  traced: { kind: 'account' },
  indexes: [],
});

const { storage } = await openTestStorage({ monitorCommands: true });
const Accounts = storage.model(accountModel);
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
