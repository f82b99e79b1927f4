import { existsSync } from 'node:fs';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { writeContents } from './export-contents.js';

const app = fixture(startTestServer);

// every write to this device fails like one to a full disk
it.skipIf(!existsSync('/dev/full'))('an archive that finds no room fails, and its process goes on', async () => {
  const { id, email } = await app.signUp();
  const { whole: files } = app.tandem.services.files;
  const { signal } = new AbortController();
  const writing = writeContents('/dev/full', { id, emails: [email] }, { storage: app.storage, files, signal });
  await expect(writing).rejects.toMatchObject({ code: 'ENOSPC' });
});
