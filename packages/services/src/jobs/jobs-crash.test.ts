import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openStorage } from '@tandem/storage';
import { createTestClock, databaseOf } from '@tandem/testing';
import { expect, it } from 'vitest';
import { jobTurnModel } from './job-turns.js';
import { createJobs } from './jobs.js';

const SCRIPT = fileURLToPath(new URL('../../test/dying-job.js', import.meta.url));
const NAME = 'dying';
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

it('a job whose process is killed runs elsewhere when its lease is over, and not before', async () => {
  const uri = databaseOf('jobs_crash');
  const child = spawn(process.execPath, [SCRIPT, uri, NAME], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);

  const clock = createTestClock();
  const storage = await openStorage({ uri, clock });
  const jobs = createJobs({ storage, log: SILENT });
  let runs = 0;
  jobs.every('1s', NAME, () => void (runs += 1));
  const row = await storage.model(jobTurnModel).findById(NAME).lean();
  const left = (row?.leaseUntil.getTime() ?? 0) - clock.now().getTime();
  // time goes on while the test runs
  clock.advance(left / 2);
  await jobs.work();
  expect(runs).toBe(0);
  clock.advance(left / 2);
  await jobs.work();
  expect(runs).toBe(1);
  await jobs.stop();
  await storage.close();
});
