import { newId, type BaseRecord, type Clock, type Model, type Storage } from '@tandem/storage';

/** One deletion and all that it takes along: the records bear its id, so that a restore brings back these and no others (decisions R2). */
export interface Deletion {
  id: string;
  at: Date;
}

export function newDeletion(clock: Clock): Deletion {
  return { id: newId(clock), at: clock.now() };
}

/** What is deleted, and restored, together with a record. Each may run more than once. */
export interface Children {
  take(parentId: string, deletion: Deletion): Promise<void>;
  bringBack(parentId: string, deletionId: string): Promise<void>;
}

/** Children that go and come back with their parents (decisions R2). Each may run more than once. */
export interface ChildrenOfMany {
  take(parentIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(parentIds: readonly string[], deletionId: string): Promise<void>;
}

/** A record that bears the mark of its deletion. */
interface Deletable extends BaseRecord {
  deletedAt: Date | null;
  deletionId?: string | null;
}

/** Finds the deletions of those of these records that are deleted, by their ids. */
export function deletionsIn<R extends Deletable>(model: Model<R>) {
  const records = model as unknown as Model<Deletable>;
  return async (ids: readonly string[]): Promise<Map<string, Deletion>> => {
    const fields = { deletionId: 1, deletedAt: 1 } as const;
    const found = await records
      .find({ _id: { $in: ids } }, fields)
      .setOptions({ deleted: 'only' })
      .lean<Deletable[]>();
    return new Map(found.flatMap(({ _id, deletionId: id, deletedAt: at }) => (id && at ? [[_id, { id, at }] as const] : [])));
  };
}

/**
 * Lets the children that a deletion has taken, or is to take, be where their parents are by now: gone with those that are deleted, by whatever
 * deletion, and back with the others. Looks again afterwards: of deletions and restorations at once, on whatever instances, or of a late
 * repetition of one, the last look decides, and it sees the parents as they are.
 */
export async function followParents(
  ids: readonly string[],
  { id: deletionId }: Pick<Deletion, 'id'>,
  { children, deletionsOf }: { children: ChildrenOfMany; deletionsOf(ids: readonly string[]): Promise<Map<string, Deletion>> },
): Promise<void> {
  for (let seen = await deletionsOf(ids); ;) {
    const back = ids.filter((id) => seen.get(id)?.id !== deletionId);
    if (back.length > 0) await children.bringBack(back, deletionId);
    for (const deletion of new Map([...seen.values()].map((one) => [one.id, one])).values()) {
      const taken = ids.filter((id) => seen.get(id)?.id === deletion.id);
      await children.take(taken, deletion);
    }
    const before = seen;
    seen = await deletionsOf(ids);
    if (ids.every((id) => seen.get(id)?.id === before.get(id)?.id)) return;
  }
}

/** How a record is marked deleted; the mark of a deletion stays while it lives again. */
export function markOf({ id, at }: Deletion): { deletedAt: Date; deletionId: string } {
  return { deletedAt: at, deletionId: id };
}

/** A live record; of a unit of work, only while that is its process's own. */
interface MarkedBy {
  _id: string;
  deletionId?: string;
  $expr?: object;
}

interface DeletionSettings<R extends Deletable> {
  /** Of the units: `<name>.delete`, `<name>.restore`. */
  name: string;
  model: Model<R>;
  children: Children;
  /** What a deletion of a missing record is refused with. */
  notFound(): Error;
  /** Sets the mark on the record that matches; says whether there was one. By default nothing else changes with it. */
  mark?(filter: MarkedBy, mark: { deletedAt: Date; deletionId: string }): Promise<boolean>;
  /** Runs the write that lets the record live again: the place to translate what it fails with. */
  reviving?<T>(write: () => Promise<T>): Promise<T>;
  /** Tells of a deletion that is done and not taken back, at least once, by whichever process did it. */
  tell?(id: string): void;
}

interface Taken {
  id: string;
  deletion: Deletion;
}

/**
 * Deletion of a record with its children, and the way back (decisions R2). Units of work: the process that began one writes the record, and
 * what follows from that is left to the next sweep where it died. So a sweep never deletes what has been restored since, nor the other way round.
 */
export function defineDeletion<R extends Deletable>(storage: Storage, settings: DeletionSettings<R>) {
  const { name, children, notFound, reviving = (write) => write(), tell } = settings;
  const records = settings.model as unknown as Model<Deletable>;
  const { mark = async (filter, $set) => (await records.updateOne(filter, { $set })).matchedCount > 0 } = settings;

  const deletionsOf = deletionsIn(records);
  const own = ({ id, deletion }: Taken) => ({ _id: id, deletionId: deletion.id });
  const has = async (filter: object) => (await records.countDocuments(filter).setOptions({ deleted: 'include' })) > 0;
  const isGone = (taken: Taken) => has({ ...own(taken), deletedAt: { $ne: null } });
  const revive = (taken: Taken, open?: object) =>
    reviving(async () => {
      const deleted = { ...own(taken), deletedAt: taken.deletion.at, ...open };
      return records.updateOne(deleted, { $set: { deletedAt: null } }).setOptions({ deleted: 'only' });
    });
  const follow = (taken: Taken) =>
    followParents([taken.id], taken.deletion, {
      children: {
        take: ([id = ''], deletion) => children.take(id, deletion),
        bringBack: ([id = ''], deletionId) => children.bringBack(id, deletionId),
      },
      deletionsOf,
    });
  const following = { name: 'children', run: follow, undo: async () => {} };

  const deletions = storage.defineUnit<Taken>({
    name: `${name}.delete`,
    steps: [
      {
        name: 'record',
        async run({ id, deletion }, { open }) {
          if (!(await mark({ _id: id, ...open }, markOf(deletion)))) throw notFound();
        },
        isDone: (taken) => has(own(taken)),
        async undo(taken) {
          await revive(taken);
          await follow(taken);
        },
      },
      following,
      ...(tell
        ? [{ name: 'telling', run: async (taken: Taken) => (await isGone(taken)) && tell(taken.id), undo: async () => {} }]
        : []),
    ],
  });
  const restorations = storage.defineUnit<Taken>({
    name: `${name}.restore`,
    steps: [
      {
        name: 'record',
        // only what this deletion has taken: one that lives again, or was deleted by another, is left as it is
        run: (taken, { open }) => revive(taken, open),
        isDone: (taken) => has({ ...own(taken), deletedAt: null }),
        async undo(taken) {
          await mark(own(taken), markOf(taken.deletion));
          await follow(taken);
        },
      },
      following,
    ],
  });

  return {
    /** Deletes softly. @throws what `notFound` gives */
    delete: (id: string) => deletions.run({ id, deletion: newDeletion(storage.clock) }),

    /** Lets a deleted record live again, with what went with it. @throws what `reviving` throws */
    async restore({ _id: id, deletedAt, deletionId }: Deletable): Promise<void> {
      if (deletedAt && deletionId) await restorations.run({ id, deletion: { id: deletionId, at: deletedAt } });
      // deleted by a host, without the mark
      else await reviving(() => records.restore(id));
    },
  };
}
