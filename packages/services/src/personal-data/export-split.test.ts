import { openFilesDriver } from '@tandem/drivers/files';
import type { MailDriver } from '@tandem/drivers/mail';
import { openStorage } from '@tandem/storage';
import { TEST_SECRETS, createTestClock, databaseOf, fixture, makeFolder, newEmail } from '@tandem/testing';
import { expect, it } from 'vitest';
import { NO_REQUEST } from '../audit/request-facts.js';
import { createTandem } from '../tandem.js';
import { exportModel } from './export.model.js';

const HOUR_MS = 60 * 60_000;
const folder = fixture(makeFolder);
const clock = createTestClock();

/** A process over the same data, whose jobs run when they are asked to. */
async function startProcess(mailDriver?: MailDriver) {
  const storage = await openStorage({ uri: databaseOf('export-split'), clock });
  const secrets = [TEST_SECRETS.authSignSecret].flat();
  const driver = await openFilesDriver('disk:', { dir: folder.path, secrets, publicUrl: '', now: clock.now });
  const mail = mailDriver && { mail: { driver: mailDriver, linksUrl: 'https://shop.example.org' } };
  const tandem = await createTandem({ storage, authSecrets: TEST_SECRETS, files: { driver }, ...mail });
  await storage.ensureIndexes();
  return {
    storage,
    services: tandem.services,
    async runJobs() {
      clock.advance(10_000);
      await tandem.runJobs();
    },
    async [Symbol.asyncDispose]() {
      await tandem.close();
      await storage.close();
    },
  };
}
const sent: string[] = [];
const send: MailDriver['send'] = async ({ to, text }) => void sent.push(`${to}: ${text}`);
const silent = fixture(() => startProcess());
const telling = fixture(() => startProcess({ send, close: async () => {} }));

/** Somebody whose archive the process without mails has stored. */
async function stored() {
  const email = newEmail();
  const { identities, personalExports } = silent.services;
  const { id } = await identities.create({ email, typeId: 'regular' });
  await personalExports.request(id, NO_REQUEST);
  await silent.runJobs();
  const row = () => silent.storage.model(exportModel).findById(id).lean();
  expect(await row()).toMatchObject({ state: 'stored' });
  return { email, row };
}

it('an archive that a process without mails has stored is told of by one that has them', async () => {
  const { email, row } = await stored();
  await telling.runJobs();
  await telling.services.mails.work();
  expect(await row()).toMatchObject({ state: 'mailed' });
  expect(sent).toEqual([expect.stringContaining(`${email}: `)]);
});

it('an archive of which nobody tells is removed after its time', async () => {
  const { row } = await stored();
  clock.advance(23 * HOUR_MS);
  await silent.runJobs();
  expect(await row()).toMatchObject({ state: 'stored' });
  clock.advance(HOUR_MS);
  await silent.runJobs();
  expect(await row()).toBeNull();
});
