import type { Clock } from '@tandem/storage';

/** The machine's clock, which a test can advance. */
export interface TestClock extends Clock {
  /** Advances the clock by this many milliseconds. */
  advance(milliseconds: number): void;
}

export function createTestClock(): TestClock {
  let offset = 0;
  return {
    now: () => new Date(Date.now() + offset),
    inStore: () => (offset === 0 ? '$$NOW' : { $add: ['$$NOW', offset] }),
    advance(milliseconds) {
      offset += milliseconds;
    },
  };
}
