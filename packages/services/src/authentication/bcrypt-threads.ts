import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import type { BcryptTask } from './bcrypt-worker.js';

/** How long a thread without work stays, in milliseconds. */
const IDLE_MS = 60_000;

let threads: Piscina<BcryptTask, string | boolean> | undefined;

/**
 * A thread a core, for all servers of this process; they begin with the first password, and hold no process up. Not libuv's pool, where
 * bcrypt's own asynchronous calls work: there tokens and files would wait behind passwords, and its threads take the cores from the thread
 * that answers everybody else. These stand back for it. Each is given its next password while it still works on one.
 */
function pool(): Piscina<BcryptTask, string | boolean> {
  threads ??= new Piscina({
    // by its name, and so from the build: a thread reads no TypeScript
    filename: createRequire(import.meta.url).resolve('@tandem/services/bcrypt-worker'),
    minThreads: 0,
    maxThreads: availableParallelism(),
    idleTimeout: IDLE_MS,
    concurrentTasksPerWorker: 2,
  });
  return threads;
}

/** How many passwords are under way at once; what is more should wait elsewhere, where it can be given up. */
export const BCRYPT_AT_ONCE = 2 * availableParallelism();

/** bcrypt, in threads of its own. */
export const bcryptThreads = {
  hash: (password: string, cost: number) => pool().run({ password, cost }) as Promise<string>,
  /** Whether it is the first hash's; if not, the time of the others has passed too. */
  compare: (password: string, hashes: readonly [string, ...string[]]) => pool().run({ password, hashes }) as Promise<boolean>,
};
