import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from './failures.js';

/**
 * Pauses between attempts of a read, in ms: together as long as the embedded engine takes to restart on a busy machine.
 */
const waits = [100, 200, 400, 800, 1600, 3200, 3200];

/**
 * Retries a read whose connection broke. The driver retries once, and not for all errors; this outlasts a restart of
 * the engine. Never for writes, which may already have been done.
 * @throws the error, when it is of another kind or the store stays unavailable
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
