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

/** How a record is marked deleted; the mark of a deletion stays while it lives again. */
export function markOf({ id, at }: Deletion): { deletedAt: Date; deletionId: string } {
  return { deletedAt: at, deletionId: id };
}

/** A record that bears the mark of its deletion. */
interface Deletable extends BaseRecord {
  deletedAt: Date | null;
  deletionId?: string | null;
}

interface DeletionSettings<R extends Deletable> {
  /** Of the units: `<name>.delete`, `<name>.restore`. */
  name: string;
  model: Model<R>;
  children: Children;
  /** What a deletion of a missing record is refused with. */
  notFound(): Error;
  /** Sets the mark on the record that matches; says whether there was one. By default nothing else changes with it. */
  mark?(filter: { _id: string }, mark: { deletedAt: Date; deletionId: string }): Promise<boolean>;
  /** Runs the write that lets the record live again: the place to translate what it fails with. */
  reviving?<T>(write: () => Promise<T>): Promise<T>;
  /** Tells of a deletion that is done, at least once, by whichever process did it. */
  tell?(id: string): void;
}

interface Taken {
  id: string;
  deletion: Deletion;
}

/**
 * Deletion of a record with its children, and the way back (decisions R2). Units of work, which the next sweep finishes where a process died
 * in between.
 */
export function defineDeletion<R extends Deletable>(storage: Storage, settings: DeletionSettings<R>) {
  const { name, children, notFound, reviving = (write) => write(), tell } = settings;
  const records = settings.model as unknown as Model<Deletable>;
  const { mark = async (filter, $set) => (await records.updateOne(filter, { $set })).matchedCount > 0 } = settings;

  const own = ({ id, deletion }: Taken) => ({ _id: id, deletionId: deletion.id });
  async function run(taken: Taken): Promise<void> {
    if (await mark({ _id: taken.id }, markOf(taken.deletion))) return;
    const done = await records.countDocuments(own(taken)).setOptions({ deleted: 'include' });
    if (done === 0) throw notFound();
  }
  const revive = (taken: Taken) =>
    reviving(async () => records.updateOne(own(taken), { $set: { deletedAt: null } }).setOptions({ deleted: 'only' }));
  const take = ({ id, deletion }: Taken) => children.take(id, deletion);
  const bringBack = ({ id, deletion }: Taken) => children.bringBack(id, deletion.id);

  const deletions = storage.defineUnit<Taken>({
    name: `${name}.delete`,
    recovery: 'finish',
    steps: [
      { name: 'record', run, undo: revive },
      { name: 'children', run: take, undo: bringBack },
      ...(tell ? [{ name: 'telling', run: async ({ id }: Taken) => tell(id), undo: async () => {} }] : []),
    ],
  });
  const restorations = storage.defineUnit<Taken>({
    name: `${name}.restore`,
    recovery: 'finish',
    steps: [
      // only what this deletion has taken: one that lives again, or was deleted anew, is left as it is
      { name: 'record', run: revive, undo: (taken) => mark(own(taken), markOf(taken.deletion)) },
      { name: 'children', run: bringBack, undo: take },
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
