import type { mongo } from 'mongoose';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, openStorage, type Live, type Traced } from './index.js';

interface Thing extends Live {
  name: string;
  parts?: { id: string }[];
}
const defineTraced = (name: string, traced: Traced) =>
  defineModel<Thing>(name, { fields: { name: String, parts: [Object] }, traced, indexes: [] });

const { storage, clock, uri } = await openTestStorage({ monitorCommands: true });
const thingModel = defineTraced('things', { kind: 'thing', parts: { kind: 'part', field: 'parts', by: 'id' } });
const otherModel = defineTraced('others', { kind: 'other' });
const Things = storage.model(thingModel);
storage.model(otherModel);
/** Reads and writes beside what records changes. */
const {
  db: { db },
} = Things as unknown as { db: { db: mongo.Db } };
/** The reads of what waits. */
const reads: object[] = [];
Things.db.getClient().on('commandStarted', ({ commandName, command }) => {
  if (commandName === 'aggregate' && command['aggregate'] === 'things') reads.push(command['pipeline'] as object);
});
/** Runs once, when events are in the log and before more is read. */
let meanwhile: (() => Promise<unknown>) | undefined;
storage.events.beforeCleared(['thing.created'], async () => {
  const run = meanwhile;
  meanwhile = undefined;
  await run?.();
});
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

describe('a unit of work under way that holds back more records than a batch has', () => {
  const times = () => ({ createdAt: clock.now(), updatedAt: clock.now(), deletedAt: null });
  /** Stores records that a unit has made, each of which was then changed outside of it. */
  async function storeMany(unit: string, count: number): Promise<void> {
    await collection('units').insertOne({ _id: unit });
    const since = clock.now();
    const entry = { at: since, actor: null };
    const events = [
      { version: 1, type: 'created', ...entry, unit, state: { name: 'n1' } },
      { version: 2, type: 'updated', ...entry },
    ];
    const records = Array.from({ length: count }, (_, n) => ({ _id: `${unit} ${n}`, name: 'n2', ...times() }));
    await collection('things').insertMany(records.map((record) => ({ ...record, trace: { version: 2, since, events } })));
    clock.advance(1);
  }
  const end = (unit: string) => collection('units').deleteOne({ _id: unit });
  afterEach(() => collection<{ _id: string }>('things').deleteMany({ _id: /^(?:large|larger) / }));

  it('costs others one more read, which does not grow with its records', async () => {
    await storeMany('large', 1000);
    await storeMany('larger', 1000);
    await store('others', 'behind', { count: 1 });
    reads.splice(0);
    await relayed();
    expect(await told()).toEqual(['other.created behind n1']);
    expect(reads).toHaveLength(3);
    expect(JSON.stringify(reads).length).toBeLessThan(10_000);
  });

  it('is told in the order of each record when it has ended, and only then', async () => {
    await storeMany('large', 450);
    await relayed();
    expect(await told()).toEqual([]);
    await end('large');
    await relayed();
    const events = await told();
    expect(events).toHaveLength(900);
    for (const n of [0, 199, 200, 449]) {
      const ofOne = events.filter((event) => event.includes(` large ${n} `));
      expect(ofOne).toEqual([`thing.created large ${n} n1`, `thing.updated large ${n} n2`]);
    }
  });

  it('is told before what was changed after it had ended, also where it ends during a pass', async () => {
    await store('things', 'sooner', { count: 1 });
    await storeMany('large', 250);
    meanwhile = async () => {
      await end('large');
      await store('others', 'after', { count: 1 });
    };
    await relayed();
    const events = await told();
    expect(events).toHaveLength(502);
    expect([events[0], events.at(-1)]).toEqual(['thing.created sooner n1', 'other.created after n1']);
  });

  it('is told without what was taken back during a pass', async () => {
    await store('things', 'soonest', { count: 1 });
    await storeMany('large', 250);
    meanwhile = async () => {
      await collection<{ _id: string }>('things').updateMany({ _id: /^large 1/ }, { $set: { 'trace.events': [] } });
      await end('large');
    };
    await relayed();
    const events = await told();
    expect(events).toHaveLength(1 + 2 * (250 - 111));
    expect(events.filter((event) => event.includes(' large 1'))).toEqual([]);
  });
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

it('events are kept by the store’s time, whatever the clock of the process that appends says', async () => {
  await store('things', 'young', { count: 1 });
  await relayed();
  const now = clock.now();
  const ahead = await openStorage({
    uri,
    clock: { now: () => new Date(now.getTime() + 40 * 24 * 60 * 60_000), inStore: () => now },
  });
  ahead.model(thingModel);
  ahead.model(otherModel);
  await vi.waitFor(async () => expect(await ahead.events.relay()).toBe('appended'), { timeout: 30_000 });
  await ahead.close();
  expect(await told()).toEqual(['thing.created young n1']);
});

it('events that are no longer kept are removed also while nothing is written', async () => {
  await store('things', 'unread', { count: 1 });
  await relayed();
  clock.advance(31 * 24 * 60 * 60_000);
  await relayed();
  expect(await told()).toEqual([]);
});
