import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import mongoose from 'mongoose';
import { createJointWrites, type JointWrite } from './joint-writes.js';

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
      hasCommand,
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
