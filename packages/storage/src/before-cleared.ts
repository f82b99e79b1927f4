import type { LoggedEvent, PendingEvent } from './event-log.js';
import { hasNothing } from './waiting-changes.js';

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

/** Whether an event is known, unread, to have nothing in a field of its state. */
export type Lacks = (event: PendingEvent, field: string) => boolean;

interface FollowOptions {
  followings: readonly Following[];
  /** Reads events of the log in order, once for all. */
  read(filter: object): Promise<LoggedEvent[]>;
  /** Default: nothing is known. */
  lacks?: Lacks | undefined;
}

/** Runs what follows the events of a batch. */
export async function followBatch(
  batch: readonly PendingEvent[],
  { followings, read, lacks = () => false }: FollowOptions,
): Promise<void> {
  const concerned = (one: Following) => batch.filter(({ type }) => one.types.has(type));
  const toRead = followings.flatMap((one) => {
    if ('runOnIds' in one) return [];
    const { having, types } = one;
    const its = concerned(one).filter((event) => having === undefined || !lacks(event, having));
    const filter = { type: { $in: [...types] }, ...(having && { [`state.${having}`]: { $nin: [null, []] } }) };
    return its.length > 0 ? [{ its, filter }] : [];
  });
  const versions = new Map(toRead.flatMap(({ its }) => its).map(({ _id, version = 0 }) => [_id, version]));
  const wanted = { _id: { $in: [...versions.keys()] }, $or: toRead.map(({ filter }) => filter) };
  const found = toRead.length > 0 ? await read(wanted) : [];
  const events = found.map((event): ToldEvent => ({ ...event, version: versions.get(event._id) as number }));
  for (const following of followings) {
    if ('runOnIds' in following) {
      const ids = concerned(following).map(({ subject }) => subject.id);
      if (ids.length > 0) await following.runOnIds(ids);
    } else {
      const { types, having } = following;
      const its = events.filter(({ type, state }) => types.has(type) && !(having && hasNothing(state[having])));
      if (its.length > 0) await following.run(its);
    }
  }
}
