import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServerProcess, startTestServer, type ServerProcess } from '@tandem/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ANSWERED_MS, LOAD_ENVIRONMENT, failuresOf, startLoad } from './load.js';
import { openNotifier } from './notifier.js';

const KILLS = 3;
/** Acknowledged requests between two kills. */
const BETWEEN = 300;
/** Longer than the lease of a unit of work, in milliseconds. */
const LEASE_MS = 61_000;

let dataDir: string;
let server: ServerProcess;
const start = () => startServerProcess({ DATA_DIR: dataDir, LOG_LEVEL: 'info', ...LOAD_ENVIRONMENT });
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  server = await start();
});
afterEach(async () => {
  await server.kill('SIGTERM');
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

/** A load on the running server, with notifications for its first people. */
async function loadServer() {
  await using notifier = await openNotifier(dataDir);
  return await startLoad(() => server, notifier);
}
/** Recovers the units of dead processes, as any instance does a minute later. */
async function sweepLater(): Promise<void> {
  await using instance = await startTestServer({ mongodbUri: undefined, dataDir });
  instance.clock.advance(LEASE_MS);
  await instance.storage.sweep();
}

it('a server killed under load has lost nothing acknowledged, and left nothing half done', async () => {
  await using load = await loadServer();
  for (let kills = 0; kills < KILLS; kills++) {
    await load.acknowledged(BETWEEN);
    await server.kill();
    server = await start();
  }
  await load.acknowledged(BETWEEN);
  await load.stop();
  await sweepLater();
  await load.verify();
  expect(load.refusals()).toEqual([0]);
});

it('while the engine is killed under load every request is answered, nothing acknowledged is lost, and it recovers by itself', async () => {
  await using load = await loadServer();
  for (let kills = 1; kills <= KILLS; kills++) {
    await load.acknowledged(BETWEEN);
    const { enginePid } = await server.logged('the embedded database runs', kills);
    process.kill(Number(enginePid), 'SIGKILL');
  }
  await load.acknowledged(BETWEEN);
  await load.stop();
  await sweepLater();
  await load.verify();
  expect(failuresOf(server)).toEqual([]);
  expect(load.refusals()).toEqual([503]);
  expect(load.slowest()).toBeLessThan(ANSWERED_MS);
});
