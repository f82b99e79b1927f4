import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PASSWORD, startMailServer, startServerProcess, type MailServer } from '@tandem/testing';
import { expect, it } from 'vitest';

const PEOPLE = 8;
/** Longest time for answers that do not wait for mail, on a busy machine, in milliseconds. */
const SOON_MS = 3000;
const HALF_A_MINUTE_MS = 30_000;
/** For later mails, of which four are sent concurrently. */
const PATIENCE = { timeout: 90_000, interval: 250 };

it.each<[string, (mail: MailServer, isIll: boolean) => void]>([
  ['says nothing for half a minute', (mail, isIll) => mail.stall(isIll)],
  ['drops every connection for half a minute', (mail, isIll) => mail.goAway(isIll)],
  ['takes half a minute for each mail', (mail, isIll) => isIll && mail.slowDown(HALF_A_MINUTE_MS)],
])('a mail server that %s delays nobody, and gets every mail once', async (_, misbehave) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  await using mail = await startMailServer();
  await using server = await startServerProcess({ DATA_DIR: dataDir, MAIL_URL: mail.url, MAIL_FROM: 'no-reply@example.org' });
  const addresses = Array.from({ length: PEOPLE }, () => `${crypto.randomUUID()}@example.org`);
  async function soon(path_: string, body: object, status: number): Promise<void> {
    const start = performance.now();
    await server.rest('POST', path_, body).expect(status);
    expect(performance.now() - start).toBeLessThan(SOON_MS);
  }

  misbehave(mail, true);
  const since = Date.now();
  for (const email of addresses) {
    await soon('/auth/register', { email, password: PASSWORD }, 201);
    await soon('/auth/send-reset-password-link-email', { email }, 204);
    await soon('/auth/login', { email, password: PASSWORD }, 200);
  }
  await expect.poll(() => Date.now() - since, PATIENCE).toBeGreaterThan(HALF_A_MINUTE_MS);
  misbehave(mail, false);

  const subjects = () => addresses.map((email) => mail.mails.filter(({ to }) => to === email).map(({ subject }) => subject).sort()); // prettier-ignore
  await expect.poll(() => subjects().flat().length, PATIENCE).toBeGreaterThanOrEqual(PEOPLE);
  const [first] = subjects();
  await expect.poll(subjects, PATIENCE).toEqual(addresses.map(() => first));
  expect(new Set(first).size).toBe(first?.length);
  await server.kill('SIGTERM');
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

it('a server that stops while its mail server hangs ends by itself, and the next one sends the mail', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  await using mail = await startMailServer();
  const environment = { DATA_DIR: dataDir, MAIL_URL: mail.url, MAIL_FROM: 'no-reply@example.org' };
  const email = `${crypto.randomUUID()}@example.org`;
  mail.stall(true);
  await using first = await startServerProcess(environment);
  await first.rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
  await first.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
  await mail.whenHeld();
  await first.kill('SIGTERM');
  expect(mail.mails).toEqual([]);

  mail.stall(false);
  await using second = await startServerProcess(environment);
  await expect.poll(() => mail.count(email), PATIENCE).toBe(1);
  await second.kill('SIGTERM');
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});
