import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseOf, fixture, startGitHubServer, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { findWords, forNamed, nameSomebody } from '../../test/named-person.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { securityEventModel } from '../audit/security-event.model.js';
import { identityModel } from '../identities/identity.model.js';
import { messageModel as webhookMessageModel } from '../webhooks/delivery.models.js';

const SCRIPT = fileURLToPath(new URL('../../test/dying-eraser.js', import.meta.url));
/** Some fifty processes die. */
const PATIENCE = 600_000;
const HOUR_MS = 60 * 60_000;
/** Three rounds, and until another process takes over the turn of a dead one. */
const TURN_MS = 40 * 60_000;

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-erasure-crash-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const mongodbUri = databaseOf('erasure_crash');
const github = fixture(startGitHubServer);
// by its own clock nobody is due
const home = fixture(() =>
  startTestServer({
    mongodbUri,
    ...forNamed(github),
    dataDir: folder.dir,
    mail: { url: 'outbox:', from: 'Tandem <a@example.org>', linksUrl: undefined, pollMs: 3_600_000 },
    webhooks: { privateAddresses: true, pollMs: 3_600_000 },
    eventMessageTexts: true,
    trustProxy: true,
    erasure: { erasureDelay: '1h' },
  }),
);

/** Starts a process that waits to be told to erase. */
function openEraser() {
  const child = spawn(process.execPath, [SCRIPT, mongodbUri, folder.dir], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const printed = text(child.stdout);
  return {
    /** @returns the steps that it has come to, and how it ended */
    async erase(ahead: number, passed: Iterable<string>) {
      child.stdin.end(JSON.stringify({ ahead, passed: [...passed] }));
      const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
      return { steps: (await printed).split('\n').filter(Boolean), code, signal };
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it(
  'an erasure is ended by other processes, whatever the write or the removal of a file at which one is killed',
  { timeout: PATIENCE },
  async () => {
    const { admin, bob } = await signUpAll(home, ['admin', 'bob'] as const, { isVerified: true });
    await admin.rest('POST', '/webhooks', { url: 'http://127.0.0.1:9/', types: ['*'] }).expect(201);
    const { person, words, said } = await nameSomebody(home, admin, bob, github);
    await createOrganization(person);
    await createOrganization(person, { member: [bob] });
    await person.rest('POST', `/auth/${person.id}/export`).expect(202);
    home.clock.advance(10_000);
    await home.tandem.runJobs();
    await home.tandem.services.mails.work();
    await expect
      .poll(() => home.storage.model(webhookMessageModel).countDocuments({ body: { $regex: said } }))
      .toBeGreaterThan(0);
    await admin.rest('POST', `/auth/${person.id}/erase`).expect(202);
    const died = new Set<string>();
    // the next one starts meanwhile
    let next = openEraser();
    try {
      for (let isDone = false; !isDone;) {
        const eraser = next;
        next = openEraser();
        const { steps, code, signal } = await eraser.erase(2 * HOUR_MS + died.size * TURN_MS, died);
        isDone = code === 0;
        if (isDone) continue;
        expect([code, signal]).toEqual([null, 'SIGKILL']);
        died.add(steps.at(-1) as string);
      }
    } finally {
      await next.kill();
    }
    expect(await home.storage.model(identityModel).findById(person.id).setOptions({ deleted: 'include' })).toBeNull();
    const erased = { type: 'identity.erased', identityId: person.id } as const;
    expect(await home.storage.model(securityEventModel).countDocuments(erased)).toBeGreaterThan(0);
    expect(await findWords(home, [...words, said], folder.dir)).toEqual([]);
    expect(died.size).toBeGreaterThan(40);
  },
);
