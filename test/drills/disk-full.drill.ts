import { execFileSync } from 'node:child_process';
import { open, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PASSWORD, startServerProcess } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANSWERED_MS, LOAD_ENVIRONMENT, failuresOf, startLoad } from './load.js';
import { openNotifier } from './notifier.js';

/** Of the disk; several times the engine's journal and the load. */
const SIZE = '320m';
const CHUNK = Buffer.alloc(64 * 1024, 'x');
const SOME = 200;
/** Longer than the engine's quick restarts, in milliseconds. */
const FULL_MS = 20_000;
const PATIENCE = { timeout: FULL_MS * 2, interval: 250 };

let disk: string;
let isMounted = false;
beforeAll(async () => {
  disk = await mkdtemp(path.join(tmpdir(), 'tandem-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk], { stdio: 'pipe' });
    isMounted = true;
  } catch {
    // only a privileged user may mount a small disk; the test says so
  }
});
afterAll(async () => {
  if (isMounted) execFileSync('umount', ['--lazy', disk]);
  await rmdir(disk);
});

/** Fills the disk. */
async function fillDisk(): Promise<void> {
  await using ballast = await open(path.join(disk, 'ballast'), 'w');
  const filling = (async () => {
    for (;;) await ballast.write(CHUNK);
  })();
  await expect(filling).rejects.toMatchObject({ code: 'ENOSPC' });
}

it('a disk that is full for a while is reported, loses nothing acknowledged, and needs no restart when there is room', async (context) => {
  if (!isMounted) context.skip('mounting a small disk is not permitted here');
  await using server = await startServerProcess({ DATA_DIR: path.join(disk, 'data'), LOG_LEVEL: 'info', ...LOAD_ENVIRONMENT });
  const email = `${crypto.randomUUID()}@example.org`;
  await server.rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
  const me = await server
    .rest('POST', '/auth/login', { email, password: PASSWORD })
    .expect<{ id: string; accessToken: string }>(200);
  const profile = await server.rest('POST', '/profiles', { identityId: me.id, name: 'Ann' }, me).expect<{ id: string }>(201);
  const picture = new Uint8Array(200_000);
  const query = `contentType=image/png&contentLength=${picture.length}`;
  const target = await server
    .rest('GET', `/profiles/${profile.id}/avatar-upload-url?${query}`, undefined, me)
    .expect<{ url: string }>(200);
  const upload = () => fetch(target.url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: picture });

  await using notifier = await openNotifier(path.join(disk, 'data'));
  await using load = await startLoad(() => server, notifier);
  await notifier[Symbol.asyncDispose]();
  await load.acknowledged(SOME);

  await fillDisk();
  const refused = await upload();
  expect(refused.status).toBe(503);
  expect(await refused.json()).toEqual({ error: { message: 'Service Unavailable' } });
  await expect.poll(() => load.refusals(), PATIENCE).toEqual([503]);
  const { reason } = await server.logged('the embedded database ended and is started again');
  expect(reason).toContain('Free some');
  const fullSince = Date.now();
  await expect.poll(() => Date.now() - fullSince, PATIENCE).toBeGreaterThan(FULL_MS);

  await rm(path.join(disk, 'ballast'));
  await load.acknowledged(SOME);
  expect((await upload()).ok).toBe(true);
  await load.stop();
  await load.verify();
  expect(failuresOf(server)).toEqual([]);
  expect(load.refusals()).toEqual([503]);
  expect(load.slowest()).toBeLessThan(ANSWERED_MS);
});
