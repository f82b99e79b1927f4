import { actingAs, openStorage, systemClock, traceContext, type Clock, type Storage } from '@tandem/storage';
import { NO_ID, createTestClock, databaseOf, startStoreProxy, startTestServer, type StoreCommand } from '@tandem/testing';
import { afterEach, expect, it } from 'vitest';
import { jobTurnModel } from './job-turns.js';
import { createJobs, type JobRun, type Jobs } from './jobs.js';

const MINUTE_MS = 60_000;
const uri = databaseOf('jobs');
const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(closes.splice(0).map((close) => close()));
});

interface Instance extends Jobs {
  storage: Storage;
  logged: { level: string; facts: { job?: string; err?: { message: string } }; text: string }[];
}
/** The jobs of an instance over the database of this file. */
async function open(clock: Clock = createTestClock(), address = uri): Promise<Instance> {
  const logged: Instance['logged'] = [];
  const at = (level: string) => (facts: object, text: string) => void logged.push({ level, facts, text });
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const storage = await openStorage({ uri: address, clock });
  const jobs = createJobs({ storage, log });
  closes.push(() => jobs.stop().then(storage.close));
  return { ...jobs, storage, logged };
}
const textsOf = ({ logged }: Instance) => logged.map(({ text }) => text);
const turnOf = ({ storage }: Instance, name: string) => storage.model(jobTurnModel).findById(name).lean();
const isOfTurns = (wanted: string) => (sent: StoreCommand) =>
  sent.collection === jobTurnModel.collectionName && sent.command === wanted;
let count = 0;
const newName = () => `job ${++count}`;

/** A run that goes on until it is let go, or told to end. */
function held() {
  let letGo = (): void => {};
  let begin = (_: AbortSignal): void => {};
  const begun = new Promise<AbortSignal>((resolve) => (begin = resolve));
  const run: JobRun = ({ signal }) =>
    new Promise<void>((resolve, reject) => {
      letGo = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      begin(signal);
    });
  return { run, begun, letGo: () => letGo() };
}

it('a job runs once on all instances that start at once, and again when its interval has passed since its start', async () => {
  const clock = createTestClock();
  const instances = await Promise.all([open(clock), open(clock), open(clock)]);
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
  const first = await open(clock);
  first.every('5m', name, () => void runs.push('first'));
  await first.work();
  clock.advance(4 * MINUTE_MS);
  const second = await open(clock);
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
  const right = await open();
  const ahead = await open({ ...systemClock, now: () => new Date(Date.now() + 60 * MINUTE_MS) });
  right.every('5m', name, () => void runs.push('right'));
  ahead.every('5m', name, () => void runs.push('ahead'));
  await right.work();
  await ahead.work();
  expect(runs).toEqual(['right']);
});

it('a run that takes longer than its interval overlaps with none on any instance, and is reported once', async () => {
  const clock = createTestClock();
  const [one, other] = await Promise.all([open(clock), open(clock)]);
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
  const [stalled, other] = await Promise.all([open(clock), open(clock)]);
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
  const instance = await open(clock);
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

it('an outage of the store costs no run, and other jobs go on', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const instance = await open(createTestClock(), proxy.uri);
  const [unlucky, other] = [newName(), newName()];
  const runs: string[] = [];
  instance.every('5m', unlucky, () => void runs.push(unlucky));
  instance.every('5m', other, () => void runs.push(other));
  const isTaking = ({ collection, command, body }: StoreCommand) =>
    collection === jobTurnModel.collectionName && command === 'update' && JSON.stringify(body).includes(unlucky);
  void proxy.cut(isTaking, 'before');
  await instance.work();
  expect([runs, textsOf(instance)]).toEqual([[other], ['jobs could not be looked at; they are looked at again']]);
  await instance.work();
  expect(runs).toEqual([other, unlucky]);
});

it('a job whose start was stored without an answer runs all the same, once', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const clock = createTestClock();
  const [instance, other] = [await open(clock, proxy.uri), await open(clock)];
  const name = newName();
  let runs = 0;
  for (const { every } of [instance, other]) every('5m', name, () => void (runs += 1));
  void proxy.cut(isOfTurns('update'), 'after');
  await instance.work();
  await other.work();
  expect([runs, textsOf(instance)]).toEqual([0, ['jobs could not be looked at; they are looked at again']]);
  for (const { work } of [instance, instance, other]) await work();
  expect(runs).toBe(1);
});

it('a job whose start was stored without an answer is run by another at once where its instance closes', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const clock = createTestClock();
  const [instance, other] = [await open(clock, proxy.uri), await open(clock)];
  const name = newName();
  const runs: string[] = [];
  instance.every('5m', name, () => void runs.push('closing'));
  other.every('5m', name, () => void runs.push('other'));
  void proxy.cut(isOfTurns('update'), 'after');
  await instance.work();
  await instance.stop();
  await other.work();
  expect(runs).toEqual(['other']);
});

it('a job whose turn a closing instance was just taking is run by another at once', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const clock = createTestClock();
  const [instance, other] = [await open(clock, proxy.uri), await open(clock)];
  const name = newName();
  const runs: string[] = [];
  instance.every('5m', name, () => void runs.push('closing'));
  other.every('5m', name, () => void runs.push('other'));
  const taking = proxy.hold(isOfTurns('update'), 'after');
  const working = instance.work();
  await taking.reached;
  const closing = instance.stop();
  taking.release();
  await Promise.all([working, closing]);
  await other.work();
  expect(runs).toEqual(['other']);
});

it('what a job writes is the system’s, also where a request of somebody has added it', async () => {
  const server = await startTestServer();
  closes.push(() => server.close());
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
  closes.push(() => storage.close());
  expect((await storage.model(jobTurnModel).findById(name).lean())?.leaseUntil).toEqual(new Date(0));
});

it('a close that comes while jobs are looked at waits until the turn of what ran is free', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const instance = await open(createTestClock(), proxy.uri);
  const name = newName();
  const { run, begun } = held();
  instance.every('5m', name, run);
  const working = instance.work();
  await begun;
  const [look, freeing] = [proxy.hold(isOfTurns('find')), proxy.hold(isOfTurns('update'))];
  const looking = instance.work();
  await look.reached;
  let isClosed = false;
  const closing = instance.stop().then(() => (isClosed = true));
  await freeing.reached;
  look.release();
  // later than the answer to the look
  await turnOf(instance, name);
  expect(isClosed).toBe(false);
  freeing.release();
  await Promise.all([working, looking, closing]);
  expect((await turnOf(instance, name))?.leaseUntil).toEqual(new Date(0));
});

it('a turn that is kept only after its run has ended is free again', async () => {
  const proxy = await startStoreProxy(uri);
  closes.push(() => proxy.close());
  const instance = await open(createTestClock(), proxy.uri);
  const name = newName();
  const { run, begun, letGo } = held();
  instance.every('5m', name, run);
  const working = instance.work();
  await begun;
  const keeping = proxy.hold(isOfTurns('update'));
  const looking = instance.work();
  await keeping.reached;
  letGo();
  const leaseUntil = async () => (await turnOf(instance, name))?.leaseUntil;
  await expect.poll(leaseUntil).toEqual(new Date(0));
  keeping.release();
  await Promise.all([working, looking]);
  expect(await leaseUntil()).toEqual(new Date(0));
});

it('after the end nothing begins', async () => {
  const instance = await open();
  let runs = 0;
  await instance.stop();
  instance.every('5m', newName(), () => void (runs += 1));
  instance.start();
  await instance.work();
  expect(runs).toBe(0);
});

it('refuses wrong intervals and names, and a name that is taken', async () => {
  const { every } = await open();
  const run = () => {};
  for (const interval of ['', '5', 'soon', '0s', '999ms', '-5m', '5m; drop'])
    expect(() => every(interval, 'sweep', run), interval).toThrow('every: the interval of "sweep" must be a duration');
  expect(() => every('5m', '', run)).toThrow('every: a name has 1 to 200 characters');
  expect(() => every('5m', 'x'.repeat(201), run)).toThrow('every: a name has 1 to 200 characters');
  every('5m', 'sweep', run);
  expect(() => every('1h', 'sweep', run)).toThrow('every: there already is a job "sweep"');
});
