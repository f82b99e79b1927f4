import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';

/** Name of the variable that carries the address of the engine to the test files. */
export const ENGINE_VARIABLE = 'TANDEM_TEST_MONGODB_URI';

/** vitest's global set-up: one engine for the whole run, over a folder that goes with it. */
export default async function startSharedEngine(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-test-'));
  const engine = await startEmbeddedMongo({ dir });
  process.env[ENGINE_VARIABLE] = engine.uri;
  return async () => {
    await engine.stop();
    await rm(dir, { recursive: true, force: true });
  };
}
