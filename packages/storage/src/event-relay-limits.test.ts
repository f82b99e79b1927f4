import type { mongo } from 'mongoose';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, type Live, type Traced } from './index.js';

interface Thing extends Live {
  name: string;
  parts?: { id: string }[];
}
const defineTraced = (name: string, traced: Traced) =>
  defineModel<Thing>(name, { fields: { name: String, parts: [Object] }, traced, indexes: [] });

const { storage, clock } = await openTestStorage();
const Things = storage.model(defineTraced('things', { kind: 'thing', parts: { kind: 'part', field: 'parts', by: 'id' } }));
storage.model(defineTraced('others', { kind: 'other' }));
/** Reads and writes beside what records changes. */
const {
  db: { db },
} = Things as unknown as { db: { db: mongo.Db } };
const collection = <Document extends mongo.Document = { _id: string }>(name: string) => db.collection<Document>(name);
afterAll(() => storage.close());

/** Until all that waits is appended: a pass that was under way while nobody could append answers `busy`. */
const relayed = () => vi.waitFor(async () => expect(await storage.events.relay()).toBe('appended'), { timeout: 30_000 });

beforeEach(async () => {
  // nothing of another test waits
  await collection('units').deleteMany({});
  await relayed();
  await collection('events').deleteMany({});
});

interface Waiting {
  /** How many changes wait. */
  count: number;
  /** The unit of work that the last of these is part of. */
  unit?: string;
  actorId?: string;
}

/** Stores a record whose changes wait. */
async function store(name: string, _id: string, { count, unit, actorId = 'ann' }: Waiting): Promise<void> {
  const now = clock.now();
  const events = Array.from({ length: count }, (_, at) => ({
    version: at + 1,
    type: at === 0 ? 'created' : 'updated',
    at: now,
    actor: { type: 'identity', id: actorId },
    ...(at < count - 1 ? { state: { name: `n${at + 1}` } } : unit !== undefined && { unit }),
  }));
  const record = { _id, name: `n${count}`, parts: [], createdAt: now, updatedAt: now, deletedAt: null };
  await collection(name).insertOne({ ...record, trace: { version: count, since: now, events } } as { _id: string });
  // the next one waits for less long
  clock.advance(1);
}
const waitingIn = async (_id: string) =>
  (await collection<{ _id: string; trace: { events: object[] } }>('things').findOne({ _id }))?.trace.events.length;
async function told(): Promise<string[]> {
  const events = collection<{ _id: string; type: string; subject: { id: string }; state: { name?: string } }>('events');
  const found = await events.find({}, { sort: { _id: 1 } }).toArray();
  return found.map(({ type, subject: { id }, state: { name } }) => `${type} ${id} ${name ?? ''}`.trim());
}
const rename = (_id: string, name: string) => Things.updateOne({ _id }, { $set: { name } });

/** Nobody appends until it is over. */
async function whileHeld(act: () => Promise<unknown>): Promise<void> {
  const leaseUntil = new Date(clock.now().getTime() + 60_000);
  await collection('eventLog').updateOne({}, { $set: { owner: 'somebody', leaseUntil } });
  await act();
  await collection('eventLog').updateOne({}, { $set: { leaseUntil: clock.now() } });
}

describe('a change of a record of which 500 wait', () => {
  it('takes the place of an update, which it tells of; a deletion has the last state, and a restoration stays', async () => {
    await whileHeld(async () => {
      await store('things', 'full', { count: 500 });
      for (const name of ['one', 'two']) await rename('full', name);
      expect(await waitingIn('full')).toBe(500);
      await Things.deleteOne({ _id: 'full' });
      await Things.restore('full');
      await rename('full', 'three');
    });
    await relayed();
    const names = await told();
    expect(names).toHaveLength(503);
    const last = ['updated full n499', 'updated full two', 'deleted full two', 'restored full two', 'updated full three'];
    expect(names.slice(-5)).toEqual(last.map((event) => `thing.${event}`));
  });

  it('is told when it comes after these were copied to the log and before they are cleared', async () => {
    await whileHeld(async () => {
      await store('things', 'late', { count: 500 });
      const cleared = [{ collection: 'things', id: 'late', version: 500 }];
      await collection('eventLog').updateOne({}, { $set: { batch: [], cleared } });
      await rename('late', 'between');
    });
    await relayed();
    expect(await told()).toEqual(['thing.updated late between']);
  });

  it('leaves those of a unit of work that may yet be undone, and those of elements', async () => {
    await collection('units').insertOne({ _id: 'under way' });
    await whileHeld(async () => {
      await store('things', 'held', { count: 500, unit: 'under way' });
      await rename('held', 'by nobody');
      expect(await waitingIn('held')).toBe(501);
      await store('things', 'parted', { count: 500 });
      for (const id of ['a', 'b']) await Things.updateOne({ _id: 'parted' }, { $set: { parts: [{ id }] } });
      await rename('parted', 'whole');
      expect(await waitingIn('parted')).toBe(503);
    });
    await relayed();
    const names = await told();
    expect(names.filter((name) => name.includes('held')).at(-1)).toBe('thing.updated held n499');
    expect(names.filter((name) => name.startsWith('part.'))).toEqual(['part.created a', 'part.created b', 'part.deleted a']);
    expect(names).toContain('thing.updated parted whole');
  });
});

it('a pass tells all that may be told of records that a unit under way holds back, however many batches it takes', async () => {
  await collection('units').insertOne({ _id: 'under way' });
  const ids = ['1', '2', '3', '4'];
  // three of them fill a batch
  const actorId = 'x'.repeat(400_000);
  for (const id of ids) await store('things', id, { count: 2, unit: 'under way', actorId });
  await relayed();
  expect(await told()).toEqual(ids.map((id) => `thing.created ${id} n1`));
});

it('records of two collections that have the same id are told of once each, when a unit of one has ended', async () => {
  await store('things', 'twin', { count: 1, unit: 'has ended' });
  await store('others', 'twin', { count: 1 });
  await relayed();
  expect((await told()).toSorted()).toEqual(['other.created twin n1', 'thing.created twin n1']);
});

it('events that are no longer kept are removed a thousand at a time, the oldest first, so that what is new never waits for them', async () => {
  await store('things', 'old', { count: 1500 });
  await relayed();
  clock.advance(31 * 24 * 60 * 60_000);
  const left = [];
  for (const name of ['first', 'second']) {
    await store('things', name, { count: 1 });
    await relayed();
    left.push((await told()).length);
  }
  expect(left).toEqual([501, 2]);
});

it('events that are no longer kept are removed also while nothing is written', async () => {
  await store('things', 'unread', { count: 1 });
  await relayed();
  clock.advance(31 * 24 * 60 * 60_000);
  await relayed();
  expect(await told()).toEqual([]);
});
