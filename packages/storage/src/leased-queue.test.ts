import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { testDatabase } from '../test/storage-fixture.js';
import { createLeasedQueue, defineModel, newId, openStorage, queuedFields, type QueuedRecord, type Storage } from './index.js';

/** Longer than a lease, in milliseconds. */
const SKEW_MS = 90_000;
const WAIT_MS = 10_000;
const jobModel = defineModel<QueuedRecord>('jobs', {
  softDelete: false,
  fields: queuedFields,
  indexes: [{ keys: { dueAt: 1, _id: 1 }, serves: 'the next job that is due' }],
});

/** Processes whose clocks are right, ahead and behind. */
let right: Process;
let ahead: Process;
let behind: Process;
interface Process {
  storage: Storage;
  queue: ReturnType<typeof createLeasedQueue<QueuedRecord>>;
}
/** How far the time has been moved on, for all of them. */
let movedMs = 0;

beforeAll(async () => {
  const uri = testDatabase().href;
  const begin = async (skewMs: number): Promise<Process> => {
    const now = () => new Date(Date.now() + skewMs + movedMs);
    const storage = await openStorage({ uri, clock: { now, inStore: () => ({ $add: ['$$NOW', movedMs] }) } });
    return { storage, queue: createLeasedQueue(storage, storage.model(jobModel), [WAIT_MS, 2 * WAIT_MS]) };
  };
  [right, ahead, behind] = await Promise.all([begin(0), begin(SKEW_MS), begin(-SKEW_MS)]);
});
afterAll(() => Promise.all([right, ahead, behind].map(({ storage }) => storage.close())));
beforeEach(async () => {
  movedMs = 0;
  await right.storage.model(jobModel).deleteMany({});
});

async function add({ storage }: Process): Promise<void> {
  await storage.model(jobModel).create({ _id: newId(), dueAt: storage.clock.now() });
}
const stored = () => right.storage.model(jobModel).findOne().lean<QueuedRecord>();

it('of two processes whose clocks differ, one has a row', async () => {
  for (const [first, second] of [
    [right, ahead],
    [behind, right],
    [behind, ahead],
  ] as const) {
    await right.storage.model(jobModel).deleteMany({});
    await add(first);
    expect(await first.queue.claim()).toBeDefined();
    expect(await second.queue.claim()).toBeUndefined();
  }
});

it('a row does not wait, whatever clock queued it', async () => {
  for (const one of [right, ahead, behind]) {
    await add(one);
    expect(await one.queue.claim()).toBeDefined();
  }
});

it('the row that has been due longest comes first, except those that are left out', async () => {
  await add(right);
  const oldest = await stored();
  await add(right);
  expect(await right.queue.claim({}, [oldest?._id ?? ''])).not.toMatchObject({ _id: oldest?._id });
  expect(await right.queue.claim()).toMatchObject({ _id: oldest?._id, attempts: 1 });
});

it('a row that is put back waits, longer after each failure', async () => {
  await add(right);
  for (const waitMs of [WAIT_MS, 2 * WAIT_MS, 2 * WAIT_MS]) {
    const job = (await right.queue.claim()) as QueuedRecord;
    const before = right.storage.clock.now().getTime();
    await right.queue.postpone(job);
    const { dueAt, owner } = (await stored()) as QueuedRecord;
    expect(owner).toBeNull();
    expect(dueAt?.getTime()).toBeGreaterThanOrEqual(before + waitMs);
    expect(dueAt?.getTime()).toBeLessThanOrEqual(right.storage.clock.now().getTime() + waitMs);
    expect(await right.queue.claim()).toBeUndefined();
    movedMs += waitMs;
  }
  expect(await right.queue.claim()).toMatchObject({ attempts: 4 });
});

it.each(['another process', 'the same process'])('who has lost a lease to %s puts nothing back', async (who) => {
  await add(right);
  const lost = (await right.queue.claim()) as QueuedRecord;
  movedMs += SKEW_MS;
  const current = await (who === 'the same process' ? right : ahead).queue.claim();
  expect(current).toMatchObject({ _id: lost._id, attempts: 2 });
  await right.queue.postpone(lost);
  expect(await stored()).toEqual(current);
});
