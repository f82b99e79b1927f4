import type { Log } from './log.js';
import type { BaseRecord, Model } from './model.js';

const batch = 500;

/**
 * Removes a model's records whose `expires` has passed, in batches. Does not rely on the engine's TTL.
 * @param now the store's time: a machine whose clock is ahead must not remove what others still need
 */
export async function removeExpired(model: Model<BaseRecord>, expires: string, now: Date): Promise<void> {
  const expired = { [expires]: { $lte: now } };
  for (;;) {
    const records = await model.find(expired, { _id: 1 }, { sort: { [expires]: 1 }, limit: batch, deleted: 'include' }).lean();
    // The condition is repeated: records extended meanwhile must stay.
    const filter = { ...expired, _id: { $in: records.map(({ _id }) => _id) } };
    if (records.length > 0) await model.deleteMany(filter, { deleted: 'include', hard: true });
    if (records.length < batch) return;
  }
}

/**
 * Sweeps periodically, until the returned function is called; that waits for a sweep in progress. A failing sweep is
 * logged.
 * @param firstMs when to begin; default at once
 */
export function sweepNowAndThen(sweep: () => Promise<void>, intervalMs: number, log: Log, firstMs = 0): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  async function turn(): Promise<void> {
    await sweep().catch((error: unknown) => log.warn({ err: error }, 'a sweep failed; the next one tries again'));
    if (!stopped) turnIn(intervalMs);
  }
  function turnIn(ms: number): void {
    timer = setTimeout(() => {
      current = turn();
    }, ms).unref();
  }
  let current = Promise.resolve();
  if (firstMs === 0) current = turn();
  else turnIn(firstMs);
  return async function stop() {
    stopped = true;
    clearTimeout(timer);
    await current;
  };
}
