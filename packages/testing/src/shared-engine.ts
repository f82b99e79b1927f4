import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';

/** The variable that passes the engine's URI to the test files. */
export const ENGINE_VARIABLE = 'TANDEM_TEST_MONGODB_URI';

const MEMORY_FOLDER = '/dev/shm';
/** Several times the size of a whole run's databases. */
const ROOM_NEEDED = 8 * 1024 ** 3;

/**
 * vitest's global set-up, which it calls for each project: one engine for the whole run, on a folder that is removed
 * afterwards.
 */
export default async function startSharedEngine(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[ENGINE_VARIABLE] !== undefined) return undefined;
  const dir = await mkdtemp(path.join(await scratchFolder(), 'tandem-test-'));
  const engine = await startEmbeddedMongo({ dir });
  process.env[ENGINE_VARIABLE] = engine.uri;
  return async () => {
    await engine.stop();
    await rm(dir, { recursive: true, force: true });
  };
}

/**
 * Each test file has a database of hundreds of small files: creating them in memory, where there is room, halves the
 * time.
 */
async function scratchFolder(): Promise<string> {
  try {
    const { bavail, bsize } = await statfs(MEMORY_FOLDER);
    return bavail * bsize >= ROOM_NEEDED ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
}
