import { randomFillSync } from 'node:crypto';
import { parse, v5, v7 } from 'uuid';
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

/**
 * Makes ids from a first one of `newId`: each call gives the next, and they sort in this order. So the ids of many
 * records can be kept as one.
 */
export function idsFrom(first: string): () => string {
  const random = parse(first);
  const view = new DataView(random.buffer, random.byteOffset);
  const msecs = view.getUint16(0) * 2 ** 32 + view.getUint32(2);
  // the counter lies around the version and the variant (RFC 9562, 6.2)
  const [high, middle, low] = [view.getUint16(6) & 0xfff, view.getUint8(8) & 0x3f, view.getUint16(9) >> 2];
  let seq = high * 2 ** 20 + middle * 2 ** 14 + low;
  return () => v7({ msecs, seq: seq++, random });
}

/** The id of what somebody names: always the same one for the same name. @param ownerId a UUID, of whose names it is */
export function namedId(ownerId: string, name: string): string {
  return v5(name, ownerId);
}
