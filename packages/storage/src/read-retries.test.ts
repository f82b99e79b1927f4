import { isCommand, refusal, startStoreProxy, type StoreProxy } from '@tandem/testing/store-double';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../test/storage-fixture.js';
import { defineModel, isStoreUnavailable, openStorage, type Live, type Storage } from './index.js';

const ThingModel = defineModel<Live>('things', { fields: {}, indexes: [] });
const engine = testDatabase().href;

let proxy: StoreProxy;
let storage: Storage;
beforeAll(async () => {
  proxy = await startStoreProxy(engine, { as: 'MongoDB 7.0' });
  // the driver's own retries would hide ours
  storage = await openStorage({ uri: `${proxy.uri}&retryReads=false&retryWrites=false` });
  await storage.model(ThingModel).create({ _id: 'one' });
});
afterEach(() => proxy.clear());
afterAll(async () => {
  await storage.close();
  await proxy.close();
});

/** How often a command was sent during `work`. */
async function timesSent(name: string, work: () => Promise<unknown>): Promise<number> {
  const start = proxy.commands.length;
  await work();
  return proxy.commands.slice(start).filter(isCommand(name)).length;
}

describe('a read', () => {
  const reads: [string, string, () => Promise<unknown>][] = [
    ['of one', 'things.find', () => storage.model(ThingModel).findById('one').lean()],
    ['of many', 'things.find', () => storage.model(ThingModel).find().lean()],
    ['of an aggregation', 'things.aggregate', () => storage.model(ThingModel).aggregate([{ $limit: 1 }])],
  ];

  it.each(reads)('%s is retried after each passing failure, until it is answered', async (_, name, read) => {
    void proxy.answer(isCommand(name), refusal(91, 'ShutdownInProgress', 'shutting down'), 2);
    expect(await timesSent(name, read)).toBe(3);
    void proxy.cut(isCommand(name), 'after', 2);
    expect(await timesSent(name, read)).toBe(3);
  });

  it.each(reads)('%s that failed for another reason is not retried', async (_, name, read) => {
    void proxy.answer(isCommand(name), refusal(2, 'BadValue', 'a bad value'));
    expect(await timesSent(name, () => expect(read()).rejects.toMatchObject({ code: 2 }))).toBe(1);
  });

  it.each(reads)('%s that timed out is not retried: it would take as long', async (_, name, read) => {
    void proxy.answer(isCommand(name), refusal(50, 'MaxTimeMSExpired', 'operation exceeded time limit'));
    expect(await timesSent(name, () => expect(read()).rejects.toSatisfy(isStoreUnavailable))).toBe(1);
  });
});

it('a write is never retried: the first attempt may have been done', async () => {
  void proxy.cut(isCommand('things.update'), 'after');
  const write = () => storage.model(ThingModel).updateOne({ _id: 'one' }, { $set: { updatedAt: new Date() } });
  expect(await timesSent('things.update', () => expect(write()).rejects.toSatisfy(isStoreUnavailable))).toBe(1);
});
