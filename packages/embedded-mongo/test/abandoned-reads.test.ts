import type { Abortable, AggregateOptions, MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { connect, startObserved, temporaryDirectory } from './fixture.js';
import { until } from './processes.js';

/** Endless rows: a read of them ends only when it is killed. */
const ENDLESS = [
  { $documents: [{}] },
  ...['a', 'b', 'c'].flatMap((name) => [{ $set: { [name]: { $range: [0, 2000] } } }, { $unwind: `$${name}` }]),
  { $match: { $expr: { $lt: [{ $add: ['$a', '$b', '$c'] }, 0] } } },
];

/** Number of operations of this kind that the engine is running. */
async function running(client: MongoClient, operation: object): Promise<number> {
  const pipeline = [{ $currentOp: { allUsers: true } }, { $match: operation }];
  return (await client.db('admin').aggregate(pipeline).toArray()).length;
}
const endlessReads = (client: MongoClient) => running(client, { ns: 'tandem.$cmd.aggregate' });

test('a read ends when its connection closes, and no other does', async () => {
  const mongo = await startObserved({ dir: await temporaryDirectory() });
  const [watching, staying, leaving] = [connect(mongo.uri), connect(mongo.uri), connect(mongo.uri)];
  const stopping = new AbortController();
  // the driver's types declare it for collections only
  const options: AggregateOptions & Abortable = { signal: stopping.signal };
  const stays = staying.db().aggregate(ENDLESS, options).toArray();
  const leaves = leaving.db().aggregate(ENDLESS).toArray();
  const outcomes = Promise.allSettled([stays, leaves]);
  await until(async () => (await endlessReads(watching)) === 2);
  await leaving.close();
  await until(async () => (await endlessReads(watching)) === 1);
  // the driver closes the connection of an aborted read
  stopping.abort();
  await until(async () => (await endlessReads(watching)) === 0);
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(mongo.events).toHaveLength(1);
});

test('a write is finished although its connection has closed', async () => {
  const mongo = await startObserved({ dir: await temporaryDirectory() });
  const [watching, leaving] = [connect(mongo.uri), connect(mongo.uri)];
  const rows = watching.db().collection('rows');
  await rows.insertMany(Array.from({ length: 1000 }, (_, n) => ({ n })));
  const sum = { $reduce: { input: { $range: [0, 1000] }, initialValue: 0, in: { $add: ['$$value', '$$this'] } } };
  const writing = leaving
    .db()
    .collection('rows')
    .updateMany({}, [{ $set: { sum } }]);
  const outcome = writing.catch((error: unknown) => error);
  await until(async () => (await running(watching, { op: 'update' })) > 0);
  await leaving.close();
  await outcome;
  await until(async () => (await running(watching, { op: 'update' })) === 0);
  expect(await rows.countDocuments({ sum: 499_500 })).toBe(1000);
});

test('a read with a comment of its own is answered', async () => {
  const mongo = await startObserved({ dir: await temporaryDirectory() });
  const db = connect(mongo.uri).db();
  const rows = db.collection<{ _id: number; comment: string }>('rows');
  await rows.insertMany([1, 2, 3].map((n) => ({ _id: n, comment: `No. ${n}` })));
  const comment = 'mine';
  expect(await rows.find({ comment: 'No. 2' }, { comment }).toArray()).toEqual([{ _id: 2, comment: 'No. 2' }]);
  expect(await rows.aggregate([{ $match: {} }], { comment, batchSize: 1 }).toArray()).toHaveLength(3);
  expect(await rows.countDocuments({}, { comment })).toBe(3);
  expect(await rows.distinct('comment', {}, { comment })).toHaveLength(3);
});
