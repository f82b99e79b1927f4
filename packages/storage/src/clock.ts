/** The one source of time. It is handed in everywhere, so that tests can move it. */
export interface Clock {
  now(): Date;
  /**
   * The same time as the store measures it, as an aggregation expression: what several processes agree on, however wrong their own clocks are.
   * Without it `now()` stands for it, which suits a clock that only one process has.
   */
  inStore?(): unknown;
}

/** The machine's own time, and the store's own. */
export const systemClock: Clock = { now: () => new Date(), inStore: () => '$$NOW' };

/** The time by which leases are measured (decisions H14), as an aggregation expression: the store's, moved as far as the clock is. */
export function timeInStore(clock: Clock): unknown {
  return clock.inStore ? clock.inStore() : clock.now();
}
