import type { Clock } from '@tandem/storage';

/** A clock that is set by hand: past orders are made in the past. */
export interface MovableClock extends Clock {
  set(at: Date): void;
}

export function createMovableClock(start: Date): MovableClock {
  let at = start;
  return { now: () => at, set: (next) => void (at = next) };
}
