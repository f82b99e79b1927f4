import { isCommand, isOfLog, startStoreProxy, type StoreCommand } from '@tandem/testing/store-double';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { testClock, testDatabase } from '../test/storage-fixture.js';
import { defineModel, openStorage, type Live, type Storage } from './index.js';

const thingModel = defineModel<Live & { name: string }>('things', {
  fields: { name: String },
  traced: { kind: 'thing' },
  indexes: [],
});

const clock = testClock();
const uri = testDatabase().href;
async function open() {
  const proxy = await startStoreProxy(uri, { plansLog: true });
  return [proxy, await openStorage({ uri: proxy.uri, clock })] as const;
}
const [[proxy, storage], [otherProxy, other]] = [await open(), await open()];
const [Things, OtherThings] = [storage.model(thingModel), other.model(thingModel)];
afterEach(() => {
  proxy.clear();
  otherProxy.clear();
});
afterAll(async () => {
  await Promise.all([storage.close(), other.close()]);
  await Promise.all([proxy.close(), otherProxy.close()]);
});

async function told(by: Storage, since: string | undefined): Promise<string[]> {
  const { events } = await by.events.read({ since, limit: 200 });
  return events.map(({ type, state }) => `${type.split('.')[1]} ${String(state['name'])}`);
}
/** Resolves when a storage has appended all that waits. */
const appended = (by: Storage) => vi.waitFor(async () => expect(await by.events.relay()).toBe('appended'), { timeout: 30_000 });

/** The process that appended last, so that it need not ask for the lease. @returns the last event */
async function begin(): Promise<string | undefined> {
  await Things.create({ name: 'before' });
  await appended(storage);
  return (await storage.events.last()) ?? undefined;
}

/** Matches the nth of the commands with which a pass appends. */
function nth(name: string, n: number): (command: StoreCommand) => boolean {
  let seen = 0;
  const isNamed = isCommand(name);
  return (command) => isOfLog(command) && isNamed(command) && ++seen === n;
}
const STEPS: readonly [string, string, number][] = [
  ['stores its batch', 'eventLog.update', 1],
  ['appends', 'eventLog.aggregate', 1],
  ['shows', 'eventLog.update', 2],
  ['clears', 'things.update', 1],
  ['gives its lease back', 'eventLog.update', 3],
];
const steps = STEPS.flatMap(([says, name, n]) => (['before', 'after'] as const).map((when) => ({ says, name, n, when })));

describe('every event is told once, in order,', () => {
  it.each(steps)('where the connection is lost $when a process $says', async ({ name, n, when }) => {
    const since = await begin();
    const cut = proxy.cut(nth(name, n), when);
    await Things.create({ name: 'a' });
    await cut;
    await OtherThings.create({ name: 'b' });
    // the lease of who cannot give it back
    clock.advance(11_000);
    await Promise.all([appended(storage), appended(other)]);
    expect(await told(other, since)).toEqual(['created a', 'created b']);
    expect(await Things.collection.countDocuments({ 'trace.since': { $exists: true } })).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    'where another appends while an answer is late of a process that has stored its batch unasked, or was about to (%s)',
    async (when) => {
      const since = await begin();
      const { reached, release } = proxy.hold(nth('eventLog.update', 1), when);
      const { _id } = await Things.create({ name: 'a' });
      await reached;
      clock.advance(11_000);
      await appended(other);
      await OtherThings.updateOne({ _id }, { $set: { name: 'b' } });
      release();
      await Promise.all([appended(storage), appended(other)]);
      expect(await told(other, since)).toEqual(['created a', 'updated b']);
    },
  );

  it('where the process that stored its batch goes on while another is about to append it', async () => {
    const since = await begin();
    const stored = proxy.hold(nth('eventLog.update', 1), 'after');
    await Things.create({ name: 'a' });
    await stored.reached;
    clock.advance(11_000);
    const taken = otherProxy.hold(nth('eventLog.aggregate', 1));
    const appending = other.events.relay();
    await taken.reached;
    stored.release();
    expect(await storage.events.relay()).toBe('busy');
    taken.release();
    expect(await appending).toBe('appended');
    expect(await told(other, since)).toEqual(['created a']);
  });

  it('where two processes write and append at once', async () => {
    const since = await begin();
    const names = Array.from({ length: 40 }, (_, n) => `thing ${n}`);
    for (const [n, name] of names.entries()) {
      await (n % 2 === 0 ? Things : OtherThings).create({ name });
      clock.advance(1);
      if (n % 5 === 0) await Promise.all([storage.events.relay(), other.events.relay()]);
    }
    await Promise.all([appended(storage), appended(other)]);
    expect(await told(storage, since)).toEqual(names.map((name) => `created ${name}`));
  });
});

it('no event is removed by a process that another has overtaken: nobody would be told that it is gone', async () => {
  const since = await begin();
  await Things.create({ name: 'old' });
  await appended(storage);
  clock.advance(31 * 24 * 60 * 60_000);
  const trimming = proxy.hold(nth('events.find', 1), 'after');
  await Things.create({ name: 'new' });
  await trimming.reached;
  const log = Things.db.collection('eventLog');
  await log.updateOne({}, { $set: { owner: 'another', leaseUntil: new Date(clock.now().getTime() + 60_000) } });
  trimming.release();
  expect(await storage.events.relay()).toBe('busy');
  expect(await told(other, since)).toEqual(['created old', 'created new']);
  await log.updateOne({}, { $set: { leaseUntil: clock.now() } });
});
