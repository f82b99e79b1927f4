import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PASSWORD, startMailServer, startServerProcess } from '@tandem/testing';
import { expect, it } from 'vitest';

const PEOPLE = 10;
/** What waits for no mail is answered by then, on a busy machine, in milliseconds. */
const SOON_MS = 3000;
/** For which the mail server says nothing, in milliseconds: longer than a mail is waited for. */
const SILENT_MS = 30_000;
/** For the tries that follow. */
const PATIENCE = { timeout: 90_000, interval: 250 };

it.each([
  ['says nothing for half a minute', 'stall'],
  ['drops every connection for half a minute', 'goAway'],
] as const)('a mail server that %s holds nobody up, and then gets every mail once', async (_, misbehave) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  await using mail = await startMailServer();
  await using server = await startServerProcess({ DATA_DIR: dataDir, MAIL_URL: mail.url, MAIL_FROM: 'no-reply@example.org' });
  const addresses = Array.from({ length: PEOPLE }, () => `${crypto.randomUUID()}@example.org`);
  async function soon(path_: string, body: object, status: number): Promise<void> {
    const start = performance.now();
    await server.rest('POST', path_, body).expect(status);
    expect(performance.now() - start).toBeLessThan(SOON_MS);
  }

  mail[misbehave](true);
  const since = Date.now();
  for (const email of addresses) {
    await soon('/auth/register', { email, password: PASSWORD }, 201);
    await soon('/auth/send-reset-password-link-email', { email }, 204);
    await soon('/auth/login', { email, password: PASSWORD }, 200);
  }
  expect(mail.mails).toEqual([]);
  await expect.poll(() => Date.now() - since, PATIENCE).toBeGreaterThan(SILENT_MS);
  mail[misbehave](false);

  const subjects = () => addresses.map((email) => mail.mails.filter(({ to }) => to === email).map(({ subject }) => subject).sort()); // prettier-ignore
  await expect.poll(() => subjects().flat().length, PATIENCE).toBeGreaterThanOrEqual(PEOPLE);
  const [first] = subjects();
  await expect.poll(subjects, PATIENCE).toEqual(addresses.map(() => first));
  expect(new Set(first).size).toBe(first?.length);
  await server.kill('SIGTERM');
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});
