import { afterAll, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, openStorage, systemClock, type BaseRecord, type Live } from './index.js';

interface Ticket extends BaseRecord {
  expiresAt?: Date;
}
interface Draft extends Live {
  expiresAt?: Date;
}
const settings = { fields: { expiresAt: Date }, indexes: [], expires: 'expiresAt' };
const TicketModel = defineModel<Ticket>('tickets', { ...settings, softDelete: false });
const DraftModel = defineModel<Draft>('drafts', settings);

const { storage, clock, uri } = await openTestStorage();
const tickets = storage.model(TicketModel);
const drafts = storage.model(DraftModel);
afterAll(() => storage.close());

it('a sweep removes records expired by the clock, in as many batches as needed, and nothing else', async () => {
  const expiresAt = new Date(clock.now().getTime() + 1000);
  await tickets.insertMany(Array.from({ length: 1200 }, () => ({ expiresAt })));
  await tickets.insertMany([{ expiresAt: new Date(expiresAt.getTime() + 1) }, {}]);
  await storage.sweep();
  expect(await tickets.countDocuments()).toBe(1202);
  clock.advance(1000);
  await storage.sweep();
  expect(await tickets.countDocuments()).toBe(2);
});

it('a sweep removes expired records for good, also those with soft deletion', async () => {
  await drafts.create([{ expiresAt: clock.now() }, { expiresAt: clock.now() }, {}]);
  await drafts.deleteOne({ expiresAt: clock.now() });
  await storage.sweep();
  expect(await drafts.collection.countDocuments()).toBe(1);
});

it('a sweep does not remove what was extended after it was found', async () => {
  await tickets.deleteMany();
  // on a single connection, commands run in the order sent
  const sweeping = await openStorage({ uri, clock, poolSize: 1 });
  const { collection } = sweeping.model(TicketModel);
  await tickets.insertMany([
    { _id: 'a', expiresAt: clock.now() },
    { _id: 'b', expiresAt: clock.now() },
  ]);
  let prolonging: Promise<unknown> | undefined;
  sweeping.onOperation((operation) => {
    const expiresAt = new Date(clock.now().getTime() + 1000);
    if (operation === 'find') prolonging ??= collection.updateOne({ _id: 'a' } as object, { $set: { expiresAt } });
  });
  await sweeping.sweep();
  await prolonging;
  expect((await tickets.find().lean()).map(({ _id }) => _id)).toEqual(['a']);
  await sweeping.close();
});

it('a sweep on a machine whose clock is ahead removes nothing early', async () => {
  await tickets.deleteMany();
  const ahead = await openStorage({ uri, clock: { ...systemClock, now: () => new Date(Date.now() + 3_600_000) } });
  const [live, over] = [new Date(Date.now() + 600_000), new Date(Date.now() - 600_000)];
  await ahead.model(TicketModel).insertMany([
    { _id: 'live', expiresAt: live },
    { _id: 'over', expiresAt: over },
  ]);
  await ahead.sweep();
  expect((await tickets.find().lean()).map(({ _id }) => _id)).toEqual(['live']);
  await ahead.close();
});

it('a sweeping storage starts at once, repeats, survives a failing sweep, and stops when closed', async () => {
  const warnings: string[] = [];
  const log = {
    info: () => undefined,
    error: () => undefined,
    warn: (_details: object, text: string) => void warnings.push(text),
  };
  const sweeping = await openStorage({ uri, clock, log });
  const swept = sweeping.model(TicketModel);
  await swept.deleteMany();
  await swept.create({ expiresAt: clock.now() });
  sweeping.startSweeping(1);
  await expect.poll(() => swept.countDocuments(), { interval: 5 }).toBe(0);
  await swept.collection.insertOne({ _id: 'late' as never, expiresAt: clock.now() });
  await expect.poll(() => swept.countDocuments(), { interval: 5 }).toBe(0);
  await sweeping.close();
  expect(warnings).toEqual([]);
  sweeping.startSweeping(1);
  await expect.poll(() => warnings.length, { interval: 5 }).toBeGreaterThan(1);
  await sweeping.close();
});
