import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestServer } from '@tandem/testing';
import { expect } from 'vitest';
import { identityModel } from '../src/identities/identity.model.js';

const SCRIPT = fileURLToPath(new URL('./dying-acceptance.js', import.meta.url));
/** Longer than a unit is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER = 61_000;

/** Sends a request to another process, over the same database, that dies before this step of a unit. */
export async function sendToDying(
  app: TestServer,
  unit: string,
  step: number,
  { method, path, accessToken, body }: { method: string; path: string; accessToken: string; body?: object },
): Promise<void> {
  // of one clock: else the unit of one would seem abandoned to the other
  const ahead = app.clock.now().getTime() - Date.now();
  const child = spawn(process.execPath, [SCRIPT, app.mongodbUri, unit, String(step), String(ahead)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const [url] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string];
    const type = body && { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${accessToken}`, ...type };
    const content = body && { body: JSON.stringify(body) };
    await expect(fetch(url + path, { method, headers, ...content })).rejects.toThrow('fetch failed');
    expect(await ended).toEqual([null, 'SIGKILL']);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Lets the one unit that a dead process left be recovered. */
export async function recoverUnit(app: TestServer): Promise<void> {
  const underWay = () => app.storage.model(identityModel).db.collection('units').countDocuments();
  expect(await underWay()).toBe(1);
  app.clock.advance(TAKEN_OVER_AFTER);
  await app.storage.sweep();
  // the server sweeps by itself too, and may have been first
  await expect.poll(underWay).toBe(0);
}
