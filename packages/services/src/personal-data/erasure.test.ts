import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FACES, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { findWords, letErasuresPass, nameSomebody } from '../../test/named-person.js';
import { signUpAll } from '../../test/people.js';

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-erasure-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const app = fixture(() =>
  startTestServer({
    dataDir: folder.dir,
    mail: { url: 'outbox:', from: 'Tandem <a@example.org>', linksUrl: undefined, pollMs: 3_600_000 },
    trustProxy: true,
    erasure: { erasureDelay: '0s' },
  }),
);

describe.each(FACES)('somebody who is erased over %s', (face) => {
  it('is found by no word in any document, file, mail or line of the log', async () => {
    const { admin, bob } = await signUpAll(app, ['admin', 'bob'] as const, { isVerified: true });
    const somebody = await nameSomebody(app, admin, bob);
    const { person, words } = somebody;
    await app.tandem.services.mails.work();
    expect((await findWords(app, words, folder.dir)).length).toBeGreaterThan(20);
    const outcome = await person.call(face, 'auth.erase', { identityId: person.id });
    expect(outcome).toMatchObject({ ok: true, value: { eraseAt: expect.any(String) as string } });
    await letErasuresPass(app);
    const left = await findWords(app, words, folder.dir);
    expect(left.filter((line) => !line.includes(somebody.said))).toEqual([]);
  });
});
