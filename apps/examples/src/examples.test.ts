import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommands, transcriptOf } from '../../../test/transcripts.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let dataDir: string;
let app: TestServer;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-examples-'));
  app = await startTestServer({ dataDir });
  const environment = `MONGODB_URI='${app.mongodbUri}' DATA_DIR='${dataDir}' BCRYPT_COST=4 NODE_ENV=`;
  await runCommands(`${environment} npm run --silent tandem -- seed --password 'tea at the harbour'`, ROOT);
});
afterAll(async () => {
  await app.close();
  await rm(dataDir, { recursive: true });
});

it.each(['tour', 'shop'])('the example %s prints what its page says', async (name) => {
  const { commands, printed } = transcriptOf(await readFile(path.join(ROOT, 'apps/examples/README.md'), 'utf8'), name);
  expect(await runCommands(commands.replaceAll('http://localhost:3000', app.url), ROOT)).toBe(printed);
});
