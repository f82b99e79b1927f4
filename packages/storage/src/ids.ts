import { v7 } from 'uuid';
import { systemClock, type Clock } from './clock.js';

/** The last millisecond of each clock and the number of ids made in it: ids of one millisecond stay in order. */
const lastOf = new WeakMap<Clock, { msecs: number; seq: number }>();

/**
 * A new record id: a UUID v7 string of the clock's time. Ids of one process sort in the order they were made, as long as
 * the clock does not go back.
 */
export function newId(clock: Clock = systemClock): string {
  const msecs = clock.now().getTime();
  const last = lastOf.get(clock);
  if (last?.msecs === msecs) {
    last.seq += 1;
    return v7({ msecs, seq: last.seq });
  }
  // 31 random bits: half of the 32-bit counter is left to count on.
  const seq = Math.floor(Math.random() * 2 ** 31);
  lastOf.set(clock, { msecs, seq });
  return v7({ msecs, seq });
}
