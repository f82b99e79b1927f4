import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from './failures.js';

/** Waits between the tries of a read, in ms: together as long as a restart of the embedded engine takes on a busy machine. */
const waits = [100, 200, 400, 800, 1600, 3200, 3200];

/**
 * Sends a read again whose connection broke. The driver does so once, and not after every kind of break; this outlives an
 * engine that is restarted. Never for writes: whether the first was done is not known.
 * @throws the error, when it is of another kind or the store stays away
 */
export async function retryRead<T>(error: unknown, read: () => Promise<T>): Promise<T> {
  let last = error;
  for (const ms of waits) {
    if (!isPassing(last)) break;
    await wait(ms);
    try {
      return await read();
    } catch (next) {
      last = next;
    }
  }
  throw last;
}
