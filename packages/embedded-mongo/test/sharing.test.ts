import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connect, startObserved, temporaryDirectory } from './fixture.js';
import { buildInto, childrenOf, isRunning, startScript, until } from './processes.js';

const buildDirectory = mkdtempSync(join(tmpdir(), 'embedded-mongo-build-'));
let builtIndex: string;

beforeAll(() => {
  builtIndex = buildInto(join(buildDirectory, 'package'));
});
afterAll(() => rmSync(buildDirectory, { recursive: true }));

/** Another process that uses the directory, from the built package. */
function startOther(dir: string) {
  const other = startScript('other-process.js', [builtIndex, dir]);
  onTestFinished(() => other.kill());
  return other;
}

const hasStarted = (line: { type: string }) => line.type === 'started';
const owns = (line: { role?: string }) => line.role === 'owner';

test('a parent that is killed takes its engine along, before another opens the data', async () => {
  const dir = await temporaryDirectory();
  const other = startOther(dir);
  const { pid = 0 } = await other.line(owns);
  // Attached, to have a URI to write to; it takes over when the other is killed.
  const mongo = await startObserved({ dir });
  await connect(mongo.uri).db().collection('notes').insertOne({ text: 'kept' });
  await other.kill();
  await mongo.started(2);
  expect(isRunning(pid)).toBe(false);
  expect(mongo.pid()).not.toBe(pid);
  expect(await connect(mongo.uri).db().collection('notes').countDocuments()).toBe(1);
});

/** The file of a process's descriptor; empty if it was closed since it was listed. */
function fileOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return '';
  }
}

test('a parent killed while its engine starts takes it along too', async () => {
  const dir = await temporaryDirectory();
  // the process reveals its progress: it exists, has loaded the library, has opened the data
  const hasLoaded = (pid: number) => readFileSync(`/proc/${pid}/maps`, 'utf8').includes('.node');
  const hasOpened = (pid: number) => readdirSync(`/proc/${pid}/fd`).some((fd) => fileOf(pid, fd).includes('WiredTiger'));
  for (const hasCome of [isRunning, hasLoaded, hasOpened]) {
    const other = startOther(dir);
    await until(() => childrenOf(other.pid).length > 0);
    const [engine = 0] = childrenOf(other.pid);
    await until(() => hasCome(engine));
    await other.kill();
    await until(() => !isRunning(engine));
  }
  expect((await startObserved({ dir, inUseWaitMs: 0 })).events).toMatchObject([{ role: 'owner' }]);
});

test('a second process shares the engine, and takes it over on the same socket when the first one stops', async () => {
  const dir = await temporaryDirectory();
  const other = startOther(dir);
  const { pid } = await other.line(owns);
  const mongo = await startObserved({ dir });
  expect(mongo.events).toEqual([{ type: 'started', role: 'attached', pid }]);
  const notes = connect(mongo.uri).db().collection('notes');
  await notes.insertOne({ text: 'before' });

  await other.stop();
  await mongo.started(2);
  expect(mongo.events.at(-1)).toMatchObject({ type: 'started', role: 'owner' });
  await notes.insertOne({ text: 'after' });
  expect(await notes.countDocuments()).toBe(2);
});

test('a process that shares an engine leaves it running when it stops', async () => {
  const dir = await temporaryDirectory();
  const owner = await startObserved({ dir });
  const other = startOther(dir);
  expect(await other.line(hasStarted)).toMatchObject({ role: 'attached', pid: owner.pid() });
  await other.stop();
  expect(await connect(owner.uri).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
  expect(owner.events).toHaveLength(1);
});

test('two users in one process share one engine, whichever stops first', async () => {
  const dir = await temporaryDirectory();
  const first = await startObserved({ dir });
  const second = await startObserved({ dir: join(dir, '.') });
  expect(second.uri).toBe(first.uri);
  expect(second.events).toMatchObject([{ role: 'attached', pid: first.pid() }]);
  await first.stop();
  await second.started(2);
  expect(await connect(second.uri).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
});

test('of several processes that start at once, one owns the engine and the others share it', async () => {
  const dir = await temporaryDirectory();
  const others = [startOther(dir), startOther(dir), startOther(dir)];
  const starts = await Promise.all(others.map((other) => other.line(hasStarted)));
  expect(starts.filter(owns)).toHaveLength(1);
  expect(new Set(starts.map((start) => start.pid)).size).toBe(1);
});

test('when a shared engine is killed, one process takes over and the others share it again', async () => {
  const dir = await temporaryDirectory();
  const uses = [await startObserved({ dir }), await startObserved({ dir }), await startObserved({ dir })];
  const killed = uses[0]?.pid() ?? 0;
  process.kill(killed, 'SIGKILL');
  await Promise.all(uses.map((use) => use.started(2)));
  const pids = new Set(uses.map((use) => use.pid()));
  expect(pids.size).toBe(1);
  expect(pids).not.toContain(killed);
  const owners = uses.map((use) => use.events.at(-1)).filter((event) => event?.type === 'started' && event.role === 'owner');
  expect(owners).toHaveLength(1);
});
