import mongoose from 'mongoose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, isDuplicateKey, isStoreUnavailable, notOnMajority, openStorage, type BaseRecord } from './index.js';
import { isPassing } from './failures.js';

interface Key extends BaseRecord {
  name: string;
}
const KeyModel = defineModel<Key>('keys', {
  fields: { name: String },
  softDelete: false,
  indexes: [{ keys: { name: 1 }, unique: true, serves: 'one by its name' }],
});
const { storage, uri } = await openTestStorage();
const keys = storage.model(KeyModel);
beforeAll(() => storage.ensureIndexes());
afterAll(() => storage.close());

const failing = (fields: object, message = 'it failed') => Object.assign(new Error(message), fields);
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a failed request', () => {
  it.each([
    ['a broken connection', new mongoose.mongo.MongoNetworkError('broken'), true],
    ['a server that steps down', failing({ code: 189 }), true],
    ['a socket that ended during a write', failing({ code: 'EPIPE', syscall: 'write' }), true],
    ['a socket that ended before a write', failing({ code: 'EPIPE' }), true],
    ['a connection that hung up', failing({ code: 'ECONNRESET' }), false],
    ['a socket that was reset during a read', failing({ code: 'ECONNRESET', syscall: 'read' }), true],
    ['a socket of something else', failing({ code: 'ECONNRESET', syscall: 'connect' }), false],
    ['another failed write of the system', failing({ code: 'ENOSPC', syscall: 'write' }), false],
    ['a slow query', failing({ code: 50 }), false],
    ['any other error', failing({}), false],
    ['a text', 'EPIPE', false],
    ['null', null, false],
    ['nothing', undefined, false],
  ])('may be retried, if it is a read: %s, %o, is %s', (_, error, expected) => {
    expect(isPassing(error)).toBe(expected);
  });

  const timeout = failing({ code: 50 });
  it.each([
    ['what may be retried', failing({ code: 'EPIPE', syscall: 'write' }), true],
    ['a slow query', timeout, true],
    ['a store that was not found', new mongoose.mongo.MongoOperationTimeoutError('late'), true],
    [
      'an operation on a closed connection',
      failing({ name: 'MongooseError' }, 'before connecting, with `bufferCommands = false`'),
      true,
    ],
    ['another error of Mongoose', failing({ name: 'MongooseError' }, 'no such path'), false],
    ['an error that only speaks of it', failing({}, 'bufferCommands'), false],
    ['an error because of one of these', new Error('wrapped', { cause: timeout }), true],
    ['a bulk write that failed because of one of these', failing({ errorResponse: timeout }), true],
    ['an error because of another', new Error('wrapped', { cause: new Error('a bug') }), false],
    ['a value that is no error', 50, false],
    ['null', null, false],
  ])('means that the store is unavailable: %s, %o, is %s', (_, error, expected) => {
    expect(isStoreUnavailable(error)).toBe(expected);
  });

  it('is not the caller’s fault where a write is not on a majority of servers yet', () => {
    const error = notOnMajority('The sign-up');
    expect(error.message).toBe('The sign-up is not on a majority of servers yet');
    expect(isStoreUnavailable(error)).toBe(true);
  });

  it('of a storage that was closed means that the store is unavailable', async () => {
    const { storage: closed } = await openTestStorage();
    const model = closed.model(KeyModel);
    await closed.close();
    expect(isStoreUnavailable(await failureOf(model.findOne().lean()))).toBe(true);
  });
});

describe('a duplicate key', () => {
  const found = { index: 'name_1_unique', fields: ['name'] };
  beforeAll(() => keys.create({ name: 'taken' }));

  it('is recognized with its index and fields; by its index in writes of many, whose errors name no fields', async () => {
    const { collection } = keys;
    expect(isDuplicateKey(await failureOf(keys.create({ name: 'taken' })))).toEqual(found);
    const record = { _id: '1' as never, name: 'taken' };
    const many = { ...found, fields: [] };
    expect(isDuplicateKey(await failureOf(collection.insertMany([record])))).toEqual(many);
    expect(isDuplicateKey(await failureOf(collection.bulkWrite([{ insertOne: { document: record } }])))).toEqual(many);
  });

  it('is recognized where the store truncates its message inside a character', async () => {
    const opened = await openStorage({ uri });
    const model = opened.model(KeyModel);
    for (let length = 0; length < 4; length += 1) {
      const name = `${'x'.repeat(length)}${'€'.repeat(1000)}`;
      await model.create({ name });
      expect(isDuplicateKey(await failureOf(model.create({ name })))).toEqual(found);
    }
    await opened.close();
  });

  it('is recognized as the cause of an error', async () => {
    const cause = await failureOf(keys.create({ name: 'taken' }));
    expect(isDuplicateKey(new Error('wrapped', { cause }))).toEqual(found);
    expect(isDuplicateKey(new Error('wrapped', { cause: new Error('a bug') }))).toBe(false);
  });

  it('is recognized without index and fields, where the error names none', () => {
    expect(isDuplicateKey({ code: 11_000 })).toEqual({ fields: [] });
    expect(isDuplicateKey({ code: 11_000 })).not.toHaveProperty('index');
    expect(isDuplicateKey({ code: 11_000, writeErrors: [] })).toEqual({ fields: [] });
    expect(isDuplicateKey({ code: 11_000, writeErrors: [{ err: { keyPattern: { name: 1 } } }] })).toEqual({ fields: ['name'] });
  });

  it.each([new Error('another'), { code: 50 }, 'E11000', null, undefined])('is not: %o', (error) => {
    expect(isDuplicateKey(error)).toBe(false);
  });
});
