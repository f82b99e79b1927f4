import { actingAs, openStorage, systemClock, traceContext } from '@tandem/storage';
import { NO_ID, createTestClock, databaseOf, startTestServer } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { held, newName, openJobs, textsOf, turnOf } from '../../test/jobs.js';
import { jobTurnModel } from './job-turns.js';

const MINUTE_MS = 60_000;
const uri = databaseOf('jobs');

it('a job runs once on all instances that start at once, and again when its interval has passed since its start', async () => {
  const clock = createTestClock();
  const instances = await Promise.all([openJobs(uri, clock), openJobs(uri, clock), openJobs(uri, clock)]);
  const name = newName();
  let runs = 0;
  for (const { every } of instances) every('5m', name, () => void (runs += 1));
  const work = () => Promise.all(instances.map((instance) => instance.work()));
  await work();
  expect(runs).toBe(1);
  clock.advance(4 * MINUTE_MS);
  await work();
  expect(runs).toBe(1);
  clock.advance(MINUTE_MS);
  await work();
  expect(runs).toBe(2);
});

it('a job that has run is not due at once for an instance that starts later', async () => {
  const clock = createTestClock();
  const name = newName();
  const runs: string[] = [];
  const first = await openJobs(uri, clock);
  first.every('5m', name, () => void runs.push('first'));
  await first.work();
  clock.advance(4 * MINUTE_MS);
  const second = await openJobs(uri, clock);
  second.every('5m', name, () => void runs.push('second'));
  await second.work();
  expect(runs).toEqual(['first']);
  clock.advance(MINUTE_MS);
  await second.work();
  expect(runs).toEqual(['first', 'second']);
});

it('an instance whose own clock is ahead runs nothing early', async () => {
  const name = newName();
  const runs: string[] = [];
  const right = await openJobs(uri);
  const ahead = await openJobs(uri, { ...systemClock, now: () => new Date(Date.now() + 60 * MINUTE_MS) });
  right.every('5m', name, () => void runs.push('right'));
  ahead.every('5m', name, () => void runs.push('ahead'));
  await right.work();
  await ahead.work();
  expect(runs).toEqual(['right']);
});

it('a run that takes longer than its interval overlaps with none on any instance, and is reported once', async () => {
  const clock = createTestClock();
  const [one, other] = await Promise.all([openJobs(uri, clock), openJobs(uri, clock)]);
  const name = newName();
  const { run, begun, letGo } = held();
  let others = 0;
  one.every('1s', name, run);
  other.every('1s', name, () => void (others += 1));
  let working = one.work();
  const signal = await begun;
  for (let renewals = 0; renewals < 3; renewals++) {
    const { leaseUntil } = (await turnOf(one, name)) ?? {};
    clock.advance(50_000);
    working = one.work();
    await expect.poll(async () => (await turnOf(one, name))?.leaseUntil).not.toEqual(leaseUntil);
    await other.work();
  }
  expect([others, signal.aborted, textsOf(one)]).toEqual([0, false, ['a job takes longer than its interval']]);
  letGo();
  await working;
  clock.advance(1000);
  await other.work();
  expect(others).toBe(1);
});

it('a holder that stalled for a minute loses its turn to another instance, and learns it', async () => {
  const clock = createTestClock();
  const [stalled, other] = await Promise.all([openJobs(uri, clock), openJobs(uri, clock)]);
  const name = newName();
  const { run, begun } = held();
  let others = 0;
  stalled.every('1s', name, run);
  other.every('1s', name, () => void (others += 1));
  const working = stalled.work();
  const signal = await begun;
  clock.advance(30_000);
  await other.work();
  expect(others).toBe(0);
  clock.advance(30_000);
  await other.work();
  expect([others, signal.aborted]).toEqual([1, false]);
  await stalled.work();
  expect(signal.aborted).toBe(true);
  await working;
  expect(textsOf(stalled)).toEqual(['a job lost its turn, which another instance may have taken']);
});

it('a run that throws is logged, and runs at the next interval', async () => {
  const clock = createTestClock();
  const instance = await openJobs(uri, clock);
  const [failing, throwing] = [newName(), newName()];
  let runs = 0;
  instance.every('5m', failing, async () => {
    runs += 1;
    await Promise.reject(new Error('no mail for ann@example.org'));
  });
  instance.every('5m', throwing, () => {
    runs += 1;
    throw new TypeError('wrong');
  });
  await instance.work();
  await instance.work();
  expect(runs).toBe(2);
  const errors = instance.logged.map(({ level, text, facts }) => [level, text, facts.job, facts.err?.message]);
  const text = 'a job failed; it runs again at its next interval';
  expect(new Set(errors.map(String))).toEqual(
    new Set(
      [
        ['error', text, failing, 'no mail for …'],
        ['error', text, throwing, 'wrong'],
      ].map(String),
    ),
  );
  clock.advance(5 * MINUTE_MS);
  await instance.work();
  expect(runs).toBe(4);
});

it('what a job writes is the system’s, also where a request of somebody has added it', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const seen = new Promise<unknown>((resolve) => {
    actingAs({ type: 'identity', id: NO_ID }, () => server.tandem.every('5m', newName(), () => resolve(traceContext().actor)));
  });
  expect(await seen).toEqual({ type: 'system', id: null });
});

it('a server runs what is due and what is added later by itself; its close tells the runs to end, and waits for them', async () => {
  const server = await startTestServer();
  const [first, later] = [held(), held()];
  const name = newName();
  server.tandem.every('5m', name, first.run);
  const signals = [await first.begun];
  server.tandem.every('5m', newName(), later.run);
  signals.push(await later.begun);
  await server.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  // an end is no failure, and the turn is free
  expect(server.logs()).not.toMatch(/a job|jobs did not/);
  const storage = await openStorage({ uri: server.mongodbUri });
  onTestFinished(() => storage.close());
  expect((await storage.model(jobTurnModel).findById(name).lean())?.leaseUntil).toEqual(new Date(0));
});

it('after the end nothing begins', async () => {
  const instance = await openJobs(uri);
  let runs = 0;
  await instance.stop();
  instance.every('5m', newName(), () => void (runs += 1));
  instance.start();
  await instance.work();
  expect(runs).toBe(0);
});

it('refuses wrong intervals and names, and a name that is taken', async () => {
  const { every } = await openJobs(uri);
  const run = () => {};
  for (const interval of ['', '5', 'soon', '0s', '999ms', '-5m', '5m; drop'])
    expect(() => every(interval, 'sweep', run), interval).toThrow('every: the interval of "sweep" must be a duration');
  expect(() => every('5m', '', run)).toThrow('every: a name has 1 to 200 characters');
  expect(() => every('5m', 'x'.repeat(201), run)).toThrow('every: a name has 1 to 200 characters');
  every('5m', 'sweep', run);
  expect(() => every('1h', 'sweep', run)).toThrow('every: there already is a job "sweep"');
});
