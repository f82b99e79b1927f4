/**
 * Lets so many commands into the engine at once and keeps the others waiting, first come, first served.
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
      // The place goes straight to the next one in the queue: nobody can slip in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
