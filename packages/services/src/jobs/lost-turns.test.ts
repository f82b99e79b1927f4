import { createTestClock, databaseOf, startStoreProxy, type StoreCommand } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { held, isOfTurns, newName, openJobs, textsOf, turnOf } from '../../test/jobs.js';
import { jobTurnModel } from './job-turns.js';

const uri = databaseOf('lost_turns');

/** One job on two instances, and who has run it; the commands of the first, which closes, can be held or cut. */
async function openTwo() {
  const proxy = await startStoreProxy(uri);
  onTestFinished(() => proxy.close());
  const clock = createTestClock();
  const [instance, other] = [await openJobs(proxy.uri, clock), await openJobs(uri, clock)];
  const name = newName();
  const runs: string[] = [];
  instance.every('5m', name, () => void runs.push('closing'));
  other.every('5m', name, () => void runs.push('other'));
  return { proxy, instance, other, runs };
}

it('an outage of the store costs no run, and other jobs go on', async () => {
  const proxy = await startStoreProxy(uri);
  onTestFinished(() => proxy.close());
  const instance = await openJobs(proxy.uri);
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
  onTestFinished(() => proxy.close());
  const clock = createTestClock();
  const [instance, other] = [await openJobs(proxy.uri, clock), await openJobs(uri, clock)];
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
  const { proxy, instance, other, runs } = await openTwo();
  void proxy.cut(isOfTurns('update'), 'after');
  await instance.work();
  await instance.stop();
  await other.work();
  expect(runs).toEqual(['other']);
});

it('a job whose turn a closing instance was just taking is run by another at once', async () => {
  const { proxy, instance, other, runs } = await openTwo();
  const taking = proxy.hold(isOfTurns('update'), 'after');
  const working = instance.work();
  await taking.reached;
  const closing = instance.stop();
  taking.release();
  await Promise.all([working, closing]);
  await other.work();
  expect(runs).toEqual(['other']);
});

it('a close that comes while jobs are looked at waits until the turn of what ran is free', async () => {
  const proxy = await startStoreProxy(uri);
  onTestFinished(() => proxy.close());
  const instance = await openJobs(proxy.uri);
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
  onTestFinished(() => proxy.close());
  const instance = await openJobs(proxy.uri);
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
