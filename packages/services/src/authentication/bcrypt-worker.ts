import { setPriority } from 'node:os';
import bcrypt from 'bcrypt';

/** Of the thread, as Linux counts: 0 is everybody's, 19 the last in turn. */
const PRIORITY = 19;

// on Linux this is the thread's own priority; elsewhere it would be the whole process's
if (process.platform === 'linux') setPriority(PRIORITY);

/** A password to hash, at a cost, or to compare with a hash and, where that is not its own, with others to no end but to take their time. */
export type BcryptTask = { password: string; cost: number } | { password: string; hashes: readonly [string, ...string[]] };

/** What a worker thread does with a task, at once: the thread has nothing else to do. */
// oxlint-disable-next-line import/no-default-export -- what Piscina calls
export default function work(task: BcryptTask): string | boolean {
  if ('cost' in task) return bcrypt.hashSync(task.password, task.cost);
  const [hash, ...decoys] = task.hashes;
  const isRight = bcrypt.compareSync(task.password, hash);
  if (!isRight) for (const decoy of decoys) bcrypt.compareSync(task.password, decoy);
  return isRight;
}
