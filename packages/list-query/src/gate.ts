import { ListTimeLimitError } from './errors.js';

/** Lets so many pieces of work run at once; the others wait their turn. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * A gate, so that expensive queries leave room for cheap ones.
 * @param settings.waitMs the longest wait, after which a piece of work is given up with ListTimeLimitError
 */
export function createGate({ atOnce, waitMs = 5000 }: { atOnce: number; waitMs?: number }): Gate {
  let running = 0;
  const waiting = new Set<() => void>();

  function enter(): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(admit);
        reject(new ListTimeLimitError(waitMs));
      }, waitMs);
      waiting.add(admit);
    });
  }

  function leave(): void {
    const [next] = waiting;
    if (!next) {
      running -= 1;
      return;
    }
    // The place goes straight to the next one: nobody can slip in between.
    waiting.delete(next);
    next();
  }

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
