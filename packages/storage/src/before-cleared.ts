import type { LoggedEvent, PendingEvent } from './event-log.js';

/** An event of a record, with the record's version by it. */
export type ToldEvent = LoggedEvent & { version: number };

/** What should follow events of some types. */
export interface BeforeCleared {
  types: ReadonlySet<string>;
  /** Only those whose state has this field, which is neither null nor an empty list; default all. */
  having?: string | undefined;
  run(events: readonly ToldEvent[]): Promise<void>;
}

/** The same by the ids of the records alone: the events are not read. */
export interface IdsBeforeCleared {
  types: ReadonlySet<string>;
  runOnIds(ids: readonly string[]): Promise<void>;
}

export type Following = BeforeCleared | IdsBeforeCleared;

const NOTHING = [null, []];

function concerns({ types, having }: BeforeCleared, { type, state }: LoggedEvent): boolean {
  if (!types.has(type)) return false;
  const value = having === undefined ? true : state[having];
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);
}

/** Runs what follows the events of a batch. @param read reads events of the log in order, once for all */
export async function followBatch(
  batch: readonly PendingEvent[],
  followings: readonly Following[],
  read: (filter: object) => Promise<LoggedEvent[]>,
): Promise<void> {
  const concerned = ({ types }: Following) => batch.filter(({ type }) => types.has(type));
  const reading = followings.filter((one): one is BeforeCleared => 'run' in one && concerned(one).length > 0);
  const versions = new Map(reading.flatMap(concerned).map(({ _id, version = 0 }) => [_id, version]));
  const wanted = reading.map(({ types, having }) => ({
    type: { $in: [...types] },
    ...(having && { [`state.${having}`]: { $nin: NOTHING } }),
  }));
  const found = reading.length > 0 ? await read({ _id: { $in: [...versions.keys()] }, $or: wanted }) : [];
  const events = found.map((event): ToldEvent => ({ ...event, version: versions.get(event._id) as number }));
  for (const following of followings) {
    if ('runOnIds' in following) {
      const ids = concerned(following).map(({ subject }) => subject.id);
      if (ids.length > 0) await following.runOnIds(ids);
    } else {
      const its = events.filter((event) => concerns(following, event));
      if (its.length > 0) await following.run(its);
    }
  }
}
