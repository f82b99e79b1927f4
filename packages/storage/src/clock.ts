/** The one source of time. It is handed in everywhere, so that tests can move it. */
export interface Clock {
  now(): Date;
}

/** The machine's own time. */
export const systemClock: Clock = { now: () => new Date() };
