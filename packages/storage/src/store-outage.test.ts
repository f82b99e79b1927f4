import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { afterAll, describe, expect, it } from 'vitest';
import { defineModel, isStoreUnavailable, openStorage, type Live } from './index.js';

interface Counter extends Live {
  n: number;
}
const CounterModel = defineModel<Counter>('counters', { fields: { n: { type: Number, default: 0 } }, indexes: [] });

const dir = await mkdtemp(join(tmpdir(), 'tandem-outage-'));
let engine = await startEmbeddedMongo({ dir });
const storage = await openStorage({ uri: engine.uri });
const counters = storage.model(CounterModel);
afterAll(async () => {
  await storage.close();
  await engine.stop();
  await rm(dir, { recursive: true });
});

const reads = [
  () => counters.find().lean(),
  () => counters.findOne({ _id: 'c' }).lean(),
  () => counters.findById('c').orFail(),
  () => counters.exists({ _id: 'c' }),
  () => counters.countDocuments(),
  () => counters.distinct('_id'),
  () => counters.aggregate([{ $count: 'n' }]),
];

describe('while the engine restarts', () => {
  it('reads under way and new ones are answered, and no write is done twice', async () => {
    await counters.create({ _id: 'c' });
    const over = new AbortController();
    let failed = 0;
    let acknowledged = 0;
    const keepReading = reads.map(async (read) => {
      while (!over.signal.aborted) await read();
    });
    const keepWriting = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        await counters.updateOne({ _id: 'c' }, { $inc: { n: 1 } }).then(
          () => (acknowledged += 1),
          (error: unknown) => {
            expect(error).toSatisfy(isStoreUnavailable);
            failed += 1;
          },
        );
      }
    });
    await engine.stop();
    const during = reads.map((read) => read());
    engine = await startEmbeddedMongo({ dir });
    await Promise.all(during);
    over.abort();
    await Promise.all([...keepReading, ...keepWriting]);

    const { n } = await counters.findById('c').orFail();
    expect(n).toBeGreaterThanOrEqual(acknowledged);
    expect(n).toBeLessThanOrEqual(acknowledged + failed);
  });
});

describe('a store that is not there', () => {
  const away = `mongodb://${encodeURIComponent(join(dir, 'nobody.sock'))}/x?serverSelectionTimeoutMS=50`;

  it('fails the opening, a ping and every operation as unavailable', async () => {
    await expect(openStorage({ uri: away })).rejects.toSatisfy(isStoreUnavailable);
    const closed = await openStorage({ uri: engine.uri });
    await closed.ping();
    await closed.close();
    await expect(closed.ping()).rejects.toSatisfy(isStoreUnavailable);
    await expect(closed.model(CounterModel).find()).rejects.toSatisfy(isStoreUnavailable);
  });

  it('is told from an error of the caller', async () => {
    const fields: object = { unknown: 1 };
    for (const failing of [counters.find(fields), counters.create([{ _id: 'd' }, { _id: 'd' }], { ordered: true })]) {
      await expect(failing).rejects.not.toSatisfy(isStoreUnavailable);
    }
  });

  it('counts as away when it runs out of time', async () => {
    const hurried = await openStorage({ uri: engine.uri, maxTimeMs: 1 });
    const slow = { $sum: { $map: { input: { $range: [0, 2_000_000] }, in: { $pow: ['$$this', 2] } } } };
    await expect(hurried.model(CounterModel).aggregate([{ $set: { slow } }])).rejects.toSatisfy(isStoreUnavailable);
    await hurried.close();
  });
});
