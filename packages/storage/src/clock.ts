/** The single source of time, passed in everywhere, so that tests can control it. */
export interface Clock {
  now(): Date;
  /**
   * The current time as measured by the store, as an aggregation expression: processes agree on it, however wrong their
   * own clocks are. Without it `now()` is used, which suits a clock that only one process has.
   */
  inStore?(): unknown;
}

/** The machine's time, and the store's. */
export const systemClock: Clock = { now: () => new Date(), inStore: () => '$$NOW' };

/**
 * The time that leases are measured by, as an aggregation expression: the store's, shifted as far as a test has moved
 * the clock. Processes whose clocks differ must agree on it (decisions H14).
 */
export function timeInStore(clock: Clock): unknown {
  return clock.inStore ? clock.inStore() : clock.now();
}

/** Extends a lease, in an update pipeline: it lasts so long from now on. */
export function leaseFor(clock: Clock, milliseconds: number) {
  return { leaseUntil: { $add: [timeInStore(clock), milliseconds] } };
}

/** Takes a lease that is one's own or over, in an update pipeline; leaves another's. */
export function takeLease(clock: Clock, owner: string, milliseconds: number) {
  const isFree = { $or: [{ $eq: ['$owner', owner] }, { $lte: ['$leaseUntil', timeInStore(clock)] }] };
  const { leaseUntil } = leaseFor(clock, milliseconds);
  return { owner: { $cond: [isFree, owner, '$owner'] }, leaseUntil: { $cond: [isFree, leaseUntil, '$leaseUntil'] } };
}
