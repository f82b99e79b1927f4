import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isCommand, isWrite, refusal, startStoreProxy, type PlayedServer, type StoreProxy } from '@tandem/testing/store-double';
import mongoose from 'mongoose';
import { testDatabase } from '../test/storage-fixture.js';
import { defineModel, isStoreUnavailable, openStorage, type BaseRecord, type JointWrite, type Storage } from './index.js';

const A = defineModel<BaseRecord>('jointA', { fields: {}, softDelete: false, indexes: [] });
const B = defineModel<BaseRecord>('jointB', { fields: {}, softDelete: false, indexes: [] });
const pair = (id: string): JointWrite[] => [
  { model: A, insert: { _id: id } },
  { model: B, insert: { _id: id } },
];

const bulkWrite = isCommand('jointA+jointB.bulkWrite');

async function openOn(server: PlayedServer, uri = testDatabase().href): Promise<[StoreProxy, Storage]> {
  const proxy = await startStoreProxy(uri, { as: server });
  return [proxy, await openStorage({ uri: proxy.uri, maxTimeMs: 5000 })];
}

describe.each([
  ['by one command', 'MongoDB 8.0'],
  ['by one each, where the server has no command for them', 'MongoDB 7.0'],
] as const)('joint writes %s', (_, server) => {
  let proxy: StoreProxy;
  let storage: Storage;
  let written: string[];
  beforeAll(async () => {
    [proxy, storage] = await openOn(server);
    storage.onWrite((name) => written.push(name));
  });
  beforeEach(async () => {
    written = [];
    await storage.writeJointly([{ model: A, put: { id: 'old', set: { n: 1 } } }]);
  });
  afterAll(async () => {
    await storage.close();
    await proxy.close();
  });

  const recordsOf = (model: typeof A) => storage.model(model).collection.find().sort({ _id: 1 }).toArray();

  it('are all done, report the documents affected, and that each collection was written', async () => {
    const touched: number[] = [];
    const start = proxy.commands.length;
    const settled: JointWrite['settled'] = (result) => void touched.push(result.status === 'fulfilled' ? result.value : -1);
    const increment = [{ $set: { n: { $add: ['$n', 1] } } }];
    await storage.writeJointly([
      { model: A, insert: { _id: 'new' }, settled },
      { model: B, insert: { _id: 'gone' }, settled },
      { model: A, update: { filter: { _id: 'old' }, change: increment }, settled },
      { model: A, update: { filter: { _id: 'nobody' }, change: increment }, settled },
      { model: B, put: { id: 'made', set: { n: 5 } }, settled },
      { model: A, put: { id: 'old', set: { m: 3 } }, settled },
      { model: A, remove: { _id: 'nobody' }, settled },
    ]);
    expect(touched).toEqual([1, 1, 1, 0, 1, 1, 0]);
    const removed: number[] = [];
    const count: JointWrite['settled'] = (result) => void removed.push(result.status === 'fulfilled' ? result.value : -1);
    await storage.writeJointly([
      { model: A, remove: { _id: 'new' }, settled: count },
      { model: B, remove: { _id: 'gone' }, settled: count },
    ]);
    expect(removed).toEqual([1, 1]);
    expect(await recordsOf(A)).toEqual([{ _id: 'old', n: 2, m: 3 }]);
    expect(await recordsOf(B)).toEqual([{ _id: 'made', n: 5 }]);
    expect(new Set(written)).toEqual(new Set(['jointA', 'jointB']));
    const commands = proxy.commands.slice(start).filter(({ command }) => command !== 'find');
    expect(commands).toHaveLength(server === 'MongoDB 8.0' ? 2 : 9);
    expect(new Set(commands.map(({ body }) => Number(body['maxTimeMS'])))).toEqual(new Set([5000]));
  });

  it('are independent: one that fails reports it, and the others are done', async () => {
    const reasons: unknown[] = [];
    await storage.writeJointly([
      { model: A, insert: { _id: 'old' }, settled: (result) => void reasons.push(result.status === 'rejected' && result.reason) },
      { model: B, insert: { _id: 'beside' } },
    ]);
    expect(reasons).toMatchObject([{ code: 11_000, message: expect.stringContaining('E11000') as unknown }]);
    expect(await recordsOf(B)).toContainEqual({ _id: 'beside' });
  });

  it('throw the failure of one without a listener', async () => {
    const failing = storage.writeJointly([
      { model: A, insert: { _id: 'old' } },
      { model: B, insert: { _id: 'still' } },
    ]);
    await expect(failing).rejects.toMatchObject({ code: 11_000 });
    expect(await recordsOf(B)).toContainEqual({ _id: 'still' });
  });

  it('that do not reach a majority in time fail as unavailable', async () => {
    const notInTime = {
      writeConcernError: { code: 64, codeName: 'WriteConcernFailed', errmsg: 'waiting for replication timed out' },
    };
    void proxy.amend(isWrite, notInTime, server === 'MongoDB 8.0' ? 1 : 2);
    const failing = storage.writeJointly(pair('late'));
    await expect(failing).rejects.toSatisfy(isStoreUnavailable);
    await expect(failing).rejects.toThrow('waiting for replication timed out');
  });
});

describe('joint writes to a server that refuses the command', () => {
  let proxy: StoreProxy;
  let storage: Storage;
  beforeEach(async () => {
    [proxy, storage] = await openOn('MongoDB 8.0');
  });
  afterEach(async () => {
    await storage.close();
    await proxy.close();
  });

  const writesSince = (start: number) => proxy.commands.slice(start).map(({ collection, command }) => `${collection}.${command}`);
  it.each([59, 115, 40_415])('with %i are done one by one, and it is never asked again', async (code) => {
    const [first, second] = [`first ${code}`, `second ${code}`];
    const start = proxy.commands.length;
    const refused = proxy.answer(bulkWrite, refusal(code, 'Refused', 'no such command'));
    await storage.writeJointly(pair(first));
    await refused;
    await storage.writeJointly(pair(second));
    const [asked, ...writes] = writesSince(start);
    expect(asked).toBe('jointA+jointB.bulkWrite');
    expect(writes.toSorted()).toEqual(['jointA.insert', 'jointA.insert', 'jointB.insert', 'jointB.insert']);
  });

  it('for another reason fail with it, and try again next time', async () => {
    const start = proxy.commands.length;
    void proxy.answer(bulkWrite, refusal(13, 'Unauthorized', 'not authorized'));
    await expect(storage.writeJointly(pair('unauthorized'))).rejects.toMatchObject({ cause: { code: 13 } });
    await storage.writeJointly(pair('authorized'));
    expect(writesSince(start)).toEqual(['jointA+jointB.bulkWrite', 'jointA+jointB.bulkWrite']);
  });

  it('in part repeat only that part', async () => {
    const start = proxy.commands.length;
    const firstBatch = [
      { ok: 1, idx: 0, n: 1 },
      { ok: 0, idx: 1, n: 0, code: 115, errmsg: 'not supported' },
    ];
    const counts = { nErrors: 1, nInserted: 1, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 };
    void proxy.answer(bulkWrite, {
      ok: 1,
      cursor: { id: mongoose.mongo.Long.ZERO, ns: 'admin.$cmd.bulkWrite', firstBatch },
      ...counts,
    });
    await storage.writeJointly(pair('in part'));
    expect(writesSince(start)).toEqual(['jointA+jointB.bulkWrite', 'jointB.insert']);
  });
});
