import { afterAll, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, openStorage, type BaseRecord, type Live } from './index.js';

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

it('a sweep removes what has expired by the clock, in as many batches as it takes, and nothing else', async () => {
  const expiresAt = new Date(clock.now().getTime() + 1000);
  await tickets.insertMany(Array.from({ length: 1200 }, () => ({ expiresAt })));
  await tickets.insertMany([{ expiresAt: new Date(expiresAt.getTime() + 1) }, {}]);
  await storage.sweep();
  expect(await tickets.countDocuments()).toBe(1202);
  clock.advance(1000);
  await storage.sweep();
  expect(await tickets.countDocuments()).toBe(2);
});

it('a sweep removes expired records for real, also those that are deleted softly', async () => {
  await drafts.create([{ expiresAt: clock.now() }, { expiresAt: clock.now() }, {}]);
  await drafts.deleteOne({ expiresAt: clock.now() });
  await storage.sweep();
  expect(await drafts.collection.countDocuments()).toBe(1);
});

it('a storage that sweeps does so at once and again, outlives a failing sweep, and stops when it is closed', async () => {
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
