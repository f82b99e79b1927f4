/**
 * Runs up to `limit` commands in the engine concurrently; the others wait in order of arrival.
 *
 * @param {number} limit
 */
export function createCommandQueue(limit) {
  let running = 0;
  /** @type {(() => void)[]} */
  const waiting = [];

  /**
   * @template T
   * @param {() => Promise<T>} command
   * @returns {Promise<T>}
   */
  return async function enqueue(command) {
    if (running < limit) running += 1;
    else await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    try {
      return await command();
    } finally {
      // The place passes directly to the next in the queue: no newcomer can take it.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
