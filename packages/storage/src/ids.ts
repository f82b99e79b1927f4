import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import { systemClock, type Clock } from './clock.js';

/** The last millisecond of each clock, and the number of ids made in it: keeps the ids of one millisecond in order. */
const lastOf = new WeakMap<Clock, { msecs: number; seq: number }>();

/** Random bytes are fetched for many ids at once: asking the system for each would dominate the cost of an id. */
const ID_BYTES = 16;
const randomBytes = new Uint8Array(256 * ID_BYTES);
let used = randomBytes.length;

function nextRandom(): Uint8Array {
  if (used === randomBytes.length) {
    randomFillSync(randomBytes);
    used = 0;
  }
  return randomBytes.subarray(used, (used += ID_BYTES));
}

/**
 * A new record id: a UUID v7 string of the clock's time. Ids of one process sort in creation order, unless the clock is
 * set back.
 */
export function newId(clock: Clock = systemClock): string {
  const msecs = clock.now().getTime();
  const last = lastOf.get(clock);
  if (last?.msecs === msecs) {
    last.seq += 1;
    return v7({ msecs, seq: last.seq, random: nextRandom() });
  }
  // 31 random bits: leaves half of the 32-bit counter for counting up.
  const seq = Math.floor(Math.random() * 2 ** 31);
  lastOf.set(clock, { msecs, seq });
  return v7({ msecs, seq, random: nextRandom() });
}
