// JavaScript, because a worker of tests that run the sources could not load TypeScript
import { setPriority } from 'node:os';
import bcrypt from 'bcrypt';

/** The thread's nice value on Linux, where 0 is the default and 19 the lowest priority. */
const PRIORITY = 19;

// on Linux this sets the thread's priority; elsewhere it would set the process's
if (process.platform === 'linux') setPriority(PRIORITY);

/**
 * A password to hash at a cost, or to compare with a hash. The other hashes are compared after a mismatch, only to take time.
 * @typedef {{ password: string; cost: number } | { password: string; hashes: readonly [string, ...string[]] }} BcryptTask
 */

/**
 * Runs a task synchronously; the thread has no other work.
 * @param {BcryptTask} task
 * @returns {string | boolean}
 */
// oxlint-disable-next-line import/no-default-export -- what Piscina calls
export default function work(task) {
  if ('cost' in task) return bcrypt.hashSync(task.password, task.cost);
  const [hash, ...decoys] = task.hashes;
  const isRight = bcrypt.compareSync(task.password, hash);
  if (!isRight) for (const decoy of decoys) bcrypt.compareSync(task.password, decoy);
  return isRight;
}
