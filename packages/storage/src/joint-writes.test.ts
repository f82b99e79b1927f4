import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isCommand, refusal, startStoreProxy, type StoreProxy } from '@tandem/testing/store-double';
import mongoose from 'mongoose';
import { createJointWrites, type JointWrite } from './joint-writes.js';
import { openStorage, type Storage } from './storage.js';

const A = { collectionName: 'jointA' };
const B = { collectionName: 'jointB' };

describe.each([
  ['by one command', true],
  ['by one each, where the server has no command for them', false],
])('joint writes %s', (_, hasCommand) => {
  let client: mongoose.mongo.MongoClient;
  let database: mongoose.mongo.Db;
  let written: string[];
  let write: (writes: readonly JointWrite[]) => Promise<void>;

  beforeAll(async () => {
    client = new mongoose.mongo.MongoClient(process.env['TANDEM_TEST_MONGODB_URI'] ?? '');
    database = client.db(`joint_${hasCommand}_${process.pid}`);
    write = createJointWrites(
      () => ({ client, database, maxTimeMS: 5000 }),
      (name) => written.push(name),
      () => hasCommand,
    );
  });
  afterAll(async () => {
    await database.dropDatabase();
    await client.close();
  });

  const idsOf = async ({ collectionName }: typeof A) =>
    (await database.collection(collectionName).find().sort({ _id: 1 }).toArray()).map(({ _id }) => String(_id));
  const store = (id: string) => database.collection(A.collectionName).insertOne({ _id: id } as object);

  it('are all done, say how many documents each touched, and that its collection was written to', async () => {
    written = [];
    await store('old');
    const touched: number[] = [];
    const settled: JointWrite['settled'] = (result) => void touched.push(result.status === 'fulfilled' ? result.value : -1);
    await write([
      { model: A, insert: { _id: 'new' }, settled },
      { model: B, insert: { _id: 'other' }, settled },
      { model: A, remove: { _id: 'old' }, settled },
      { model: A, remove: { _id: 'nobody' }, settled },
    ]);
    expect(touched).toEqual([1, 1, 1, 0]);
    expect([await idsOf(A), await idsOf(B)]).toEqual([['new'], ['other']]);
    expect(new Set(written)).toEqual(new Set(['jointA', 'jointB']));
  });

  it('do not need each other: one that fails tells its own, and the others are done', async () => {
    written = [];
    await store('taken');
    const reasons: unknown[] = [];
    await write([
      {
        model: A,
        insert: { _id: 'taken' },
        settled: (result) => void reasons.push(result.status === 'rejected' && result.reason),
      },
      { model: B, insert: { _id: 'beside' } },
    ]);
    expect(reasons).toMatchObject([{ code: 11_000 }]);
    expect(await idsOf(B)).toContain('beside');
  });

  it('throw what one fails with that nobody listens to', async () => {
    written = [];
    await store('again');
    const failing = write([
      { model: A, insert: { _id: 'again' } },
      { model: B, insert: { _id: 'still' } },
    ]);
    await expect(failing).rejects.toMatchObject({ code: 11_000 });
    expect(await idsOf(B)).toContain('still');
  });
});

describe('joint writes to a server that refuses the command', () => {
  const database = `joint_refused_${process.pid}`;
  const bulkWrite = isCommand('jointA+jointB.bulkWrite');
  let proxy: StoreProxy;
  let storage: Storage;
  beforeEach(async () => {
    const engine = process.env['TANDEM_TEST_MONGODB_URI'] ?? '';
    proxy = await startStoreProxy(engine.replace(/^(mongodb:\/\/[^/]+)\/[^?]*/, `$1/${database}`), { as: 'MongoDB 8.0' });
    storage = await openStorage({ uri: proxy.uri });
  });
  afterEach(async () => {
    await storage.close();
    await proxy.close();
  });

  const writesSince = (start: number) => proxy.commands.slice(start).map(({ collection, command }) => `${collection}.${command}`);
  const pair = (id: string): JointWrite[] => [
    { model: A, insert: { _id: id } },
    { model: B, insert: { _id: id } },
  ];

  it.each([59, 115, 40_415])('with %i are done by one each, and it is never asked again', async (code) => {
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

  it('for another reason fail with it, and ask again next time', async () => {
    const start = proxy.commands.length;
    void proxy.answer(bulkWrite, refusal(13, 'Unauthorized', 'not authorized'));
    await expect(storage.writeJointly(pair('unauthorized'))).rejects.toMatchObject({ cause: { code: 13 } });
    await storage.writeJointly(pair('authorized'));
    expect(writesSince(start)).toEqual(['jointA+jointB.bulkWrite', 'jointA+jointB.bulkWrite']);
  });

  it('in part do that part by itself, and nothing twice', async () => {
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
