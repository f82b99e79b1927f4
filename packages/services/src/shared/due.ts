import type { Storage } from '@tandem/storage';

/**
 * The condition for queue rows (with `dueAt` and `owner`) that a worker may take. On a leased row, `dueAt` is the end of the
 * lease in the store's time; comparing it with process clocks would let processes with different clocks steal rows from each
 * other (decisions H14). A free row is also due by the process's own clock, so that a row queued by a process whose clock is
 * ahead does not wait.
 * @returns the condition, which an index on `dueAt` serves, and the store's time, from which the new lease counts
 */
export async function dueRows(storage: Storage): Promise<{ due: object; now: Date }> {
  const now = await storage.time();
  const latest = new Date(Math.max(now.getTime(), storage.clock.now().getTime()));
  return { due: { dueAt: { $lte: latest }, $or: [{ owner: null }, { dueAt: { $lte: now } }] }, now };
}
