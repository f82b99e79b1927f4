import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { connect, socketOf, startObserved, temporaryDirectory } from './fixture.js';
import { isRunning, until } from './processes.js';

test('twenty kills during writes lose nothing that was acknowledged', async () => {
  const mongo = await startObserved({
    dir: await temporaryDirectory(),
    restarts: { firstWaitMs: 1, longestWaitMs: 1 },
  });
  const rows = connect(mongo.uri).db().collection<{ _id: string }>('rows');
  const acknowledged: string[] = [];
  const done = new AbortController();
  // also when the test fails: the writers would keep its process busy for good
  onTestFinished(() => done.abort());

  async function write(writer: number): Promise<void> {
    for (let n = 0; !done.signal.aborted; n++) {
      const _id = `${writer}-${n}`;
      // A failed write is not acknowledged; it may be stored or not.
      await rows.insertOne({ _id }).then(
        () => acknowledged.push(_id),
        () => {},
      );
    }
  }

  const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
  for (let kills = 1; kills <= 20; kills++) {
    await mongo.started(kills);
    const before = acknowledged.length;
    await until(() => acknowledged.length > before + 30);
    process.kill(mongo.pid(), 'SIGKILL');
  }
  await mongo.started(21);
  done.abort();
  await Promise.all(writers);

  const found = new Set(await rows.distinct('_id'));
  expect(acknowledged.length).toBeGreaterThan(600);
  expect(acknowledged.filter((_id) => !found.has(_id))).toEqual([]);
});

test('the waits between restarts grow, and after the limit the engine is given up with a reason', async () => {
  const mongo = await startObserved({
    dir: await temporaryDirectory(),
    restarts: { limit: 3, firstWaitMs: 5, longestWaitMs: 15 },
  });
  for (let kills = 1; kills <= 4; kills++) {
    await mongo.started(kills);
    process.kill(mongo.pid(), 'SIGKILL');
  }
  expect(await mongo.failed).toMatchObject({ code: 'engine-failed', message: expect.stringContaining('SIGKILL') as string });
  expect(mongo.events.flatMap((event) => (event.type === 'restarting' ? [event.waitMs] : []))).toEqual([5, 10, 15]);
  expect(mongo.events.at(-1)).toMatchObject({ type: 'gave-up' });
  await mongo.stop();
});

test('an engine that ran long enough resets the count of failures', async () => {
  const mongo = await startObserved({
    dir: await temporaryDirectory(),
    restarts: { limit: 1, firstWaitMs: 1, stableAfterMs: 0 },
  });
  for (let kills = 1; kills <= 3; kills++) {
    await mongo.started(kills);
    process.kill(mongo.pid(), 'SIGKILL');
  }
  await mongo.started(4);
  expect(mongo.events.map((event) => event.type)).not.toContain('gave-up');
});

test('stopping while a restart waits ends at once', async () => {
  const mongo = await startObserved({
    dir: await temporaryDirectory(),
    restarts: { firstWaitMs: 60_000, longestWaitMs: 60_000 },
  });
  process.kill(mongo.pid(), 'SIGKILL');
  await until(() => mongo.events.some((event) => event.type === 'restarting'));
  await mongo.stop();
  expect(mongo.events.map((event) => event.type)).toEqual(['started', 'restarting']);
});

test('signals to the whole group do not end the engine before its parent', async () => {
  const mongo = await startObserved({ dir: await temporaryDirectory() });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(mongo.pid(), signal);
  expect(await connect(mongo.uri).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
  expect(isRunning(mongo.pid())).toBe(true);
});

test('a file in place of the socket does not prevent a start', async () => {
  const dir = await temporaryDirectory();
  const first = await startObserved({ dir });
  await first.stop();
  writeFileSync(socketOf(first.uri), 'not a socket');
  const second = await startObserved({ dir });
  expect(await connect(second.uri).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
});
