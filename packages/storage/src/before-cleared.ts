import type { LoggedEvent } from './event-log.js';

/** An event of a record, with the record's version by it. */
export type ToldEvent = LoggedEvent & { version: number };

/** What should follow events of some types. */
export interface BeforeCleared {
  types: ReadonlySet<string>;
  /** Which of them, as the log has them; default all. */
  where: object;
  run(events: readonly ToldEvent[]): Promise<void>;
}

/** The same by the ids of the records alone: the events are not read. */
export interface IdsBeforeCleared {
  types: ReadonlySet<string>;
  runOnIds(ids: readonly string[]): Promise<void>;
}
