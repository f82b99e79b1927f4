import { newId, type BaseRecord, type Clock, type Model, type Storage } from '@tandem/storage';

/** One deletion. All records that it removes carry its id, so that a restore brings back exactly these (decisions R2). */
export interface Deletion {
  id: string;
  at: Date;
}

export function newDeletion(clock: Clock): Deletion {
  return { id: newId(clock), at: clock.now() };
}

/** Deletes and restores the children of one record. Both functions must be repeatable. */
export interface Children {
  take(parentId: string, deletion: Deletion): Promise<void>;
  bringBack(parentId: string, deletionId: string): Promise<void>;
}

/** Deletes and restores the children of many records (decisions R2). Both functions must be repeatable. */
export interface ChildrenOfMany {
  take(parentIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(parentIds: readonly string[], deletionId: string): Promise<void>;
}

/** A record that stores which deletion removed it. */
interface Deletable extends BaseRecord {
  deletedAt: Date | null;
  deletionId?: string | null;
}

/** Returns a function that finds the deletions of those given records that are deleted, by record id. */
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
 * Brings children into the state of their parents: deleted with every deleted parent, whichever deletion removed it, and restored
 * with the others. Reads the parents again after writing and repeats until nothing has changed. So when deletions and
 * restorations race, on any instances or in a sweep's late retry, the last run sees the final state of the parents.
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

/** The fields that mark a record deleted. `deletionId` stays after a restore. */
export function markOf({ id, at }: Deletion): { deletedAt: Date; deletionId: string } {
  return { deletedAt: at, deletionId: id };
}

/** Filter for a live record. In a unit of work, `$expr` matches only while the unit belongs to this process. */
interface MarkedBy {
  _id: string;
  deletionId?: string;
  $expr?: object;
}

interface DeletionSettings<R extends Deletable> {
  /** Prefix of the unit names `<name>.delete` and `<name>.restore`. */
  name: string;
  model: Model<R>;
  children: Children;
  /** The error for deleting a missing record. */
  notFound(): Error;
  /** Marks the matching record deleted; resolves to whether one matched. The default changes no other field. */
  mark?(filter: MarkedBy, mark: { deletedAt: Date; deletionId: string }): Promise<boolean>;
  /** Wraps the write that restores the record, to translate its errors. */
  reviving?<T>(write: () => Promise<T>): Promise<T>;
  /** Announces a deletion that is done and was not undone. Called at least once, by the process that finishes the unit. */
  tell?(id: string): void;
}

interface Taken {
  id: string;
  deletion: Deletion;
}

/**
 * Defines deletion and restoration of a record with its children (decisions R2) as units of work. Only the process that began a
 * unit writes the record. If that process dies, a sweep does the remaining steps; it never deletes a record that was restored
 * since, or the reverse.
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
        // restores only what this deletion removed: a live record, or one removed by another deletion, stays as it is
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
    /** Soft-deletes the record and its children. @throws the error of `notFound` */
    delete: (id: string) => deletions.run({ id, deletion: newDeletion(storage.clock) }),

    /** Restores a deleted record and everything deleted with it. @throws what `reviving` throws */
    async restore({ _id: id, deletedAt, deletionId }: Deletable): Promise<void> {
      if (deletedAt && deletionId) await restorations.run({ id, deletion: { id: deletionId, at: deletedAt } });
      // a host deleted the record without a `deletionId`
      else await reviving(() => records.restore(id));
    },
  };
}
