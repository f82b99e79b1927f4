import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { BcryptTask } from './bcrypt-worker.js';

/** How long an idle thread is kept, in milliseconds. */
const IDLE_MS = 60_000;

let threads: Piscina<BcryptTask, string | boolean> | undefined;

/**
 * The thread pool for bcrypt: one thread per core, shared by all servers of the process, started with the first password, and
 * never keeping the process alive. It replaces libuv's pool, on which bcrypt's own asynchronous calls run: there, passwords would
 * delay tokens and files, and take CPU from the main thread. These threads have a lower priority. Each takes a second task before
 * it has finished the first.
 */
function pool(): Piscina<BcryptTask, string | boolean> {
  threads ??= new Piscina({
    filename: fileURLToPath(new URL('./bcrypt-worker.js', import.meta.url)),
    minThreads: 0,
    maxThreads: availableParallelism(),
    idleTimeout: IDLE_MS,
    concurrentTasksPerWorker: 2,
  });
  return threads;
}

/** Maximum number of running tasks. Callers should queue others themselves, so that they can drop them. */
export const BCRYPT_AT_ONCE = 2 * availableParallelism();

/** bcrypt on separate threads. */
export const bcryptThreads = {
  hash: (password: string, cost: number) => pool().run({ password, cost }) as Promise<string>,
  /** Whether the password matches the first hash. If not, it is compared with the others too, only to take their time. */
  compare: (password: string, hashes: readonly [string, ...string[]]) => pool().run({ password, hashes }) as Promise<boolean>,
};
