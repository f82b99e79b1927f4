import type { Storage } from '@tandem/storage';

/**
 * What of a queue may be taken: rows with `dueAt` and `owner`. Where somebody has a row, `dueAt` is until when, by the store's time: processes
 * whose clocks differ would else take it from each other (decisions H14). When a row is due that nobody has, the process's own clock says as well,
 * so that none waits which a process that is ahead has just queued.
 * @returns the condition, which an index of `dueAt` serves, and the store's time, from which the new lease is counted
 */
export async function dueRows(storage: Storage): Promise<{ due: object; now: Date }> {
  const now = await storage.time();
  const latest = new Date(Math.max(now.getTime(), storage.clock.now().getTime()));
  return { due: { dueAt: { $lte: latest }, $or: [{ owner: null }, { dueAt: { $lte: now } }] }, now };
}
