import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '@tandem/storage';

/** The machine's clock, by which things can be done at other times. Leases go by the store's, which others share. */
export interface MovableClock extends Clock {
  /** Runs something at a time, while others run at theirs. */
  at<T>(time: Date, run: () => Promise<T>): Promise<T>;
}

export function createMovableClock(): MovableClock {
  const times = new AsyncLocalStorage<Date>();
  return {
    now: () => times.getStore() ?? new Date(),
    inStore: () => '$$NOW',
    at: (time, run) => times.run(time, run),
  };
}
