import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestClock, databaseOf, fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openDyingEraser } from '../../test/dying-eraser.js';
import { findWords, nameSomebody } from '../../test/named-person.js';
import { signUpAll } from '../../test/people.js';

/** An erasure has some hundred writes. */
const PATIENCE = 600_000;
const DAY_MS = 24 * 60 * 60_000;
/** When another process takes over the turn of a dead one. */
const TAKEN_OVER_MS = 61_000;
/** The rounds of an erasure begin within so much time of each other. */
const ROUND_MS = 11 * 60_000;

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-erasure-crash-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const mongodbUri = databaseOf('erasure_crash');
// its own clock, by which nobody is due
const home = fixture(() =>
  startTestServer({
    mongodbUri,
    dataDir: folder.dir,
    mail: { url: 'outbox:', from: 'Tandem <a@example.org>', linksUrl: undefined, pollMs: 3_600_000 },
    trustProxy: true,
    erasure: { erasureDelay: '1d' },
  }),
);

it('an erasure whose process dies between any two of its writes is ended by another', { timeout: PATIENCE }, async () => {
  const clock = createTestClock();
  clock.advance(2 * DAY_MS);
  const seen = new Set<string>();
  // each of the first ones, where most is at stake, and some of the others
  for (let writes = 1, isDone = false; !isDone; writes += Math.ceil(writes / 8)) {
    const { admin, bob } = await signUpAll(home, ['admin', 'bob'] as const, { isVerified: true });
    const { person, words, said } = await nameSomebody(home, admin, bob);
    await home.tandem.services.mails.work();
    await admin.rest('POST', `/auth/${person.id}/erase`).expect(202);
    const lives = { mongodbUri, clock, folder: folder.dir };
    await using dying = await openDyingEraser(lives, writes);
    clock.advance(ROUND_MS);
    let passed: string[] = [];
    ({ passed, isDone } = await dying.erase());
    for (const write of passed) seen.add(write);
    await using others = await openDyingEraser(lives, Number.POSITIVE_INFINITY);
    for (const wait of [TAKEN_OVER_MS, ROUND_MS, ROUND_MS, ROUND_MS]) {
      clock.advance(wait);
      await others.erase();
    }
    const left = await findWords(home, words, folder.dir);
    expect(
      left.filter((line) => !line.includes(said)),
      `died after ${passed.join(', ')}`,
    ).toEqual([]);
  }
  expect(seen.size).toBeGreaterThan(20);
});
