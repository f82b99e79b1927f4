import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startStoreProxy } from '@tandem/testing';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, isDuplicateKey, openStorage, type BaseRecord, type Live } from './index.js';

interface Account extends Live {
  email: string;
  ownerId?: string;
  seen?: boolean;
}
interface Ticket extends BaseRecord {
  expiresAt: Date;
}
const AccountModel = defineModel<Account>('accounts', {
  fields: { email: String, ownerId: String, seen: Boolean },
  indexes: [
    { keys: { email: 1 }, unique: true, serves: 'login' },
    { keys: { ownerId: 1, createdAt: -1 }, where: { seen: false }, serves: "an owner's unseen ones, newest first" },
    { keys: { createdAt: 1 }, deletedToo: true, serves: 'the report of all accounts, deleted ones too' },
  ],
});
const TicketModel = defineModel<Ticket>('tickets', {
  fields: { expiresAt: Date },
  softDelete: false,
  indexes: [],
  expires: 'expiresAt',
});

const { storage, uri } = await openTestStorage();
const accounts = storage.model(AccountModel);
const tickets = storage.model(TicketModel);
beforeEach(async () => {
  for (const { collection } of [accounts, tickets]) await collection.drop().catch(() => undefined);
});
afterAll(() => storage.close());

const names = (indexes: { collection: string; index: string }[]) =>
  indexes.map(({ collection, index }) => `${collection}.${index}`);
const all = [
  'units.leaseUntil_1',
  'accounts.email_1_unique',
  'accounts.ownerId_1_createdAt_-1_where_seen',
  'accounts.createdAt_1',
  'accounts.deletedAt_1_where_deletedAt',
  'tickets.expiresAt_expires',
];

describe('making the indexes', () => {
  it('creates those of every model, and finds them the next time', async () => {
    const first = await storage.ensureIndexes();
    expect(names(first.created)).toEqual(expect.arrayContaining(all.slice(1)));
    expect(names([...first.created, ...first.existing]).toSorted()).toEqual(all.toSorted());
    expect(await storage.ensureIndexes()).toMatchObject({ created: [] });
    expect(names((await storage.ensureIndexes()).existing)).toEqual(all);
    const made = await accounts.collection.indexes();
    expect(made.find(({ name }) => name === 'email_1_unique')).toMatchObject({
      unique: true,
      partialFilterExpression: { deletedAt: null },
    });
    expect(made.find(({ name }) => name === 'ownerId_1_createdAt_-1_where_seen')).toMatchObject({
      partialFilterExpression: { seen: false, deletedAt: null },
    });
    expect(made.find(({ name }) => name === 'createdAt_1')).not.toHaveProperty('partialFilterExpression');
    expect(await tickets.collection.indexes()).toContainEqual(
      expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }),
    );
  });

  it('is safe when two instances do it at once', async () => {
    const other = await openStorage({ uri });
    other.model(AccountModel);
    other.model(TicketModel);
    await Promise.all([storage.ensureIndexes(), other.ensureIndexes()]);
    expect(names((await other.ensureIndexes()).existing)).toEqual(all);
    await other.close();
  });

  it('names the collection and the index that existing duplicates prevent, and makes the others', async () => {
    await accounts.insertMany([{ email: 'a@b.co' }, { email: 'a@b.co' }]);
    await expect(storage.ensureIndexes()).rejects.toThrow(/accounts\.email_1_unique: existing records share a value/);
    expect(await accounts.collection.indexExists('createdAt_1')).toBe(true);
  });

  it('removes one of an earlier version once what replaces it is there', async () => {
    const replaces = 'email_1_unique';
    const where = { email: { $exists: true } };
    const PersonModel = defineModel<Account>('persons', {
      fields: { email: String },
      indexes: [{ keys: { email: 1 }, unique: true, where, replaces, serves: 'login' }],
    });
    const later = await openStorage({ uri });
    const { collection } = later.model(PersonModel);
    await collection.createIndex({ email: 1 }, { name: replaces, unique: true, partialFilterExpression: { deletedAt: null } });
    // two instances at once
    await using proxy = await startStoreProxy(uri);
    const slower = await openStorage({ uri: proxy.uri });
    slower.model(PersonModel);
    const { reached, release } = proxy.hold(({ command }) => command === 'dropIndexes');
    const ending = slower.ensureIndexes();
    await reached;
    await later.ensureIndexes();
    release();
    await ending;
    await slower.close();
    expect((await collection.indexes()).map(({ name }) => name)).toEqual([
      '_id_',
      'email_1_unique_where_email',
      'deletedAt_1_where_deletedAt',
    ]);
    await later.model(PersonModel).create([{ _id: 'a' }, { _id: 'b' }]);
    await collection.drop();
    await later.close();
  });

  it('asks only for those of collections where one is missing or differs', async () => {
    await storage.ensureIndexes();
    await using proxy = await startStoreProxy(uri);
    const other = await openStorage({ uri: proxy.uri });
    other.model(AccountModel);
    other.model(TicketModel);
    const asked = async () => {
      const from = proxy.commands.length;
      await other.ensureIndexes().catch(() => undefined);
      return proxy.commands.slice(from).filter(({ command }) => command === 'createIndexes');
    };
    expect(await asked()).toEqual([]);
    await tickets.collection.dropIndex('expiresAt_expires');
    expect((await asked()).map(({ collection }) => collection)).toEqual(['tickets']);
    await tickets.collection.dropIndex('expiresAt_expires');
    await tickets.collection.createIndex({ expiresAt: 1 }, { name: 'expiresAt_expires', expireAfterSeconds: 1 });
    expect((await asked()).map(({ collection }) => collection)).toContain('tickets');
    await other.close();
  });

  it('names an index that exists with other options', async () => {
    const text = 'accounts.email_1_unique: an index of that name or on those keys exists';
    await accounts.collection.createIndex({ email: 1 }, { name: 'email_1_unique' });
    await expect(storage.ensureIndexes()).rejects.toThrow(text);
    await accounts.collection.dropIndex('email_1_unique');
    const partialFilterExpression = { deletedAt: null };
    await accounts.collection.createIndex({ email: 1 }, { name: 'of another name', unique: true, partialFilterExpression });
    await expect(storage.ensureIndexes()).rejects.toThrow(text);
  });
});

it('unique values are unique among live records', async () => {
  await storage.ensureIndexes();
  const first = await accounts.create({ email: 'a@b.co' });
  await expect(accounts.create({ email: 'a@b.co' })).rejects.toSatisfy((error) => isDuplicateKey(error) !== false);
  await expect(accounts.insertMany([{ email: 'a@b.co' }])).rejects.toSatisfy((error) => isDuplicateKey(error) !== false);
  await first.deleteOne();
  await accounts.create({ email: 'a@b.co' });
});

it.each(['', 'a', 'aa', 'aaa'])(
  'a duplicate unique value is recognized, wherever the store truncates it in the error text: %s👩👩…',
  async (start) => {
    await storage.ensureIndexes();
    const email = start + '👩'.repeat(100);
    const { _id } = await accounts.create({ email: 'another' });
    await accounts.create({ email });
    const isTaken = (error: unknown) => isDuplicateKey(error) !== false;
    await expect(accounts.create({ email })).rejects.toSatisfy(isTaken);
    await expect(accounts.updateOne({ _id }, { email })).rejects.toSatisfy(isTaken);
    await expect(accounts.findOneAndUpdate({ _id }, { email })).rejects.toSatisfy(isTaken);
  },
);

it('lists and counts of live records read only the index', async () => {
  await storage.ensureIndexes();
  await accounts.insertMany([{ email: 'a@b.co', ownerId: 'o', seen: false }, { email: 'c@d.co' }]);
  const list = JSON.stringify(await accounts.find({ ownerId: 'o', seen: false }).sort({ createdAt: -1 }).explain('queryPlanner'));
  expect(list).toContain('"indexName":"ownerId_1_createdAt_-1_where_seen"');
  expect(list).not.toMatch(/"stage":"(COLLSCAN|SORT)"/);
  const count = [{ $match: { ownerId: 'o', seen: false } }, { $count: 'n' }];
  expect(JSON.stringify(await accounts.aggregate(count).explain('queryPlanner'))).toContain('"stage":"COUNT_SCAN"');
});

it('the report lists missing and undeclared indexes, and what each index serves', async () => {
  await accounts.collection.createIndex({ seen: 1 }, { name: 'old' });
  await accounts.collection.createIndex({ email: 1 }, { name: 'email_1_unique' });
  const report = await storage.indexReport();
  expect(report.find(({ collection }) => collection === 'accounts')).toEqual({
    collection: 'accounts',
    declared: [
      { index: 'email_1_unique', serves: 'login', exists: true },
      { index: 'ownerId_1_createdAt_-1_where_seen', serves: "an owner's unseen ones, newest first", exists: false },
      { index: 'createdAt_1', serves: 'the report of all accounts, deleted ones too', exists: false },
      { index: 'deletedAt_1_where_deletedAt', serves: 'what was deleted long ago', exists: false },
    ],
    extra: ['old'],
  });
});
