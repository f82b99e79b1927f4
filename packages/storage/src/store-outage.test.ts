import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { defineModel, isStoreUnavailable, openStorage, type Live } from './index.js';

interface Counter extends Live {
  n: number;
}
const CounterModel = defineModel<Counter>('counters', { fields: { n: { type: Number, default: 0 } }, indexes: [] });

const dir = await mkdtemp(join(tmpdir(), 'tandem-outage-'));
let engine = await startEmbeddedMongo({ dir });
// longer than a start of the engine may take
const storage = await openStorage({ uri: `${engine.uri}&serverSelectionTimeoutMS=30000` });
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
  it('reads in progress and new ones are answered, and no write is done twice', async () => {
    await counters.create({ _id: 'c' });
    const over = new AbortController();
    onTestFinished(() => over.abort());
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

describe('when the engine is killed', () => {
  it('acknowledged writes survive', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'tandem-killed-'));
    const events = new EventEmitter();
    let enginePid = 0;
    await using own = await startEmbeddedMongo({
      dir: ownDir,
      restarts: { firstWaitMs: 1, longestWaitMs: 1 },
      onEvent(event) {
        if (event.type === 'started') enginePid = event.pid;
        events.emit(event.type);
      },
    });
    const ownStorage = await openStorage({ uri: own.uri });
    const written = ownStorage.model(CounterModel);
    const over = new AbortController();
    onTestFinished(() => over.abort());
    const acknowledged: string[] = [];
    const keepWriting = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !over.signal.aborted; n++) {
        const _id = `${writer}-${n}`;
        await written.create({ _id, n }).then(
          () => events.emit('written', acknowledged.push(_id)),
          (error: unknown) => expect(error).toSatisfy(isStoreUnavailable),
        );
      }
    });
    for (let kills = 0; kills < 3; kills++) {
      for (let writes = 0; writes < 50; writes++) await once(events, 'written');
      const started = once(events, 'started');
      process.kill(enginePid, 'SIGKILL');
      await started;
    }
    over.abort();
    await Promise.all(keepWriting);
    const found = new Set(await written.distinct('_id'));
    expect(acknowledged.filter((_id) => !found.has(_id))).toEqual([]);
    await ownStorage.close();
    await own.stop();
    await rm(ownDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
  });
});

describe('when the engine hangs', () => {
  it('writes in progress, of one document or many, fail as unavailable when the driver drops their connections, and a read is retried', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'tandem-hanging-'));
    let enginePid = 0;
    await using own = await startEmbeddedMongo({
      dir: ownDir,
      onEvent: (event) => void (event.type === 'started' && (enginePid = event.pid)),
    });
    const ownStorage = await openStorage({ uri: `${own.uri}&connectTimeoutMS=300` });
    const hanging = ownStorage.model(CounterModel);
    await hanging.create({ _id: 'c' });
    // opens connections for what follows: one that is still connecting fails differently
    await Promise.all(Array.from({ length: 12 }, () => hanging.findById('c')));
    process.kill(enginePid, 'SIGSTOP');
    const read = hanging.exists({ _id: 'c' }).then((found) => found?._id);
    const writes: Promise<unknown>[] = [
      ...[1, 2, 3].map(async (n) => hanging.updateOne({ _id: 'c' }, { n })),
      hanging.insertMany([{ _id: 'd' }]),
      hanging.collection.insertMany([{ _id: 'e' } as object]),
      hanging.bulkWrite([{ updateOne: { filter: { _id: 'c' }, update: { n: 4 } } }]),
      ownStorage.writeJointly([
        { model: CounterModel, insert: { _id: 'f' } },
        { model: CounterModel, remove: { _id: 'g' } },
      ]),
    ];
    const failures = await Promise.all(writes.map((write) => write.catch((error: unknown) => error)));
    process.kill(enginePid, 'SIGCONT');
    expect(failures).toSatisfy((all: unknown[]) => all.every(isStoreUnavailable));
    expect(failures).toContainEqual(expect.objectContaining({ name: 'PoolClearedOnNetworkError' }));
    expect(await read).toBe('c');
    await ownStorage.close();
    await own.stop();
    await rm(ownDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
  });
});

describe('an unreachable store', () => {
  const away = `mongodb://${encodeURIComponent(join(dir, 'nobody.sock'))}/x?serverSelectionTimeoutMS=50`;

  it('fails the opening, a ping and every operation as unavailable', async () => {
    await expect(openStorage({ uri: away })).rejects.toSatisfy(isStoreUnavailable);
    const closed = await openStorage({ uri: engine.uri });
    await closed.ping();
    await closed.close();
    await expect(closed.ping()).rejects.toSatisfy(isStoreUnavailable);
    await expect(closed.model(CounterModel).find()).rejects.toSatisfy(isStoreUnavailable);
  });

  it('is distinguished from a caller’s error', async () => {
    const fields: object = { unknown: 1 };
    for (const failing of [counters.find(fields), counters.create([{ _id: 'd' }, { _id: 'd' }], { ordered: true })]) {
      await expect(failing).rejects.not.toSatisfy(isStoreUnavailable);
    }
  });

  it('counts as unavailable when it times out', async () => {
    const hurried = await openStorage({ uri: engine.uri, maxTimeMs: 1 });
    const slow = { $sum: { $map: { input: { $range: [0, 2_000_000] }, in: { $pow: ['$$this', 2] } } } };
    await expect(hurried.model(CounterModel).aggregate([{ $set: { slow } }])).rejects.toSatisfy(isStoreUnavailable);
    await hurried.close();
  });
});
