import { newId, type Live, type Model, type Storage } from '@tandem/storage';
import { markOf, newDeletion, type Deletion } from './deletion.js';

/** What records carry that are written many at once. Neither field leaves the server. */
export interface BulkRecord extends Live {
  /** The unit that changed it last; null after a change of its own. */
  writer?: string | null;
  /** The deletion that it went with, of many or of its parent: what went together comes back together. */
  deletionId?: string | null;
  /** The restoration that brought it back last. */
  restoration?: string | null;
}
export const bulkFields = {
  writer: { type: String, default: null },
  deletionId: { type: String, default: null },
  restoration: { type: String, default: null },
};
/** A record without what is only for units of work. */
export function withoutBulkFields<R extends Partial<BulkRecord>>(record: R): Omit<R, 'writer' | 'deletionId' | 'restoration'> {
  const { writer, deletionId, restoration, ...others } = record;
  return others;
}

/** One record of a change of many. */
export interface BulkChange {
  id: string;
  set: Record<string, unknown>;
  /** The values before, of the same fields. */
  before: Record<string, unknown>;
  /** What its write needs to be true still, beside its id. */
  expected?: Record<string, unknown>;
}

/** Children that go and come back with their parents (decisions R2). Each may run more than once. */
export interface ChildrenOfMany {
  take(parentIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(parentIds: readonly string[], deletionId: string): Promise<void>;
}

/** What records may be children of, and go with. */
export interface Parents {
  /** Whether a record with these fields has a parent. */
  has(fields: Record<string, unknown>): boolean;
  /** Asked after each write: deletes those whose parents were deleted before they could see them. May run more than once. */
  follow(ids: readonly string[]): Promise<void>;
}

/** What of many is the store's own, and no list may ask for. */
export const BULK_HIDDEN = ['writer', 'deletionId', 'restoration'] as const;

interface Insertion {
  records: { _id: string }[];
}
interface Update {
  writer: string;
  at: Date;
  changes: BulkChange[];
}
interface Removal {
  deletion: Deletion;
  ids: string[];
}
interface Restoration {
  restoration: string;
  id: string;
  deletionId: string | null;
  deletedAt: Date;
}

/** One of many was no longer as its change expected it. */
class Overtaken extends Error {}

interface BulkOptions<R extends BulkRecord> {
  storage: Storage;
  model: Model<R>;
  /** Of one record, in the names of the units: "product". */
  name: string;
  /** Thrown when one of many is missing, or the one. */
  manyMissing(): Error;
  oneMissing(): Error;
  children?: ChildrenOfMany;
  parents?: Parents;
}

/**
 * Writes to many records that take effect together or not at all, also when the process dies between two of them (decisions R10).
 * @throws of each function: what it is told to throw, after which nothing has changed
 */
export function createBulkWrites<R extends BulkRecord>({ storage, model, name, children, parents, ...errors }: BulkOptions<R>) {
  // by the driver: what is being written may have been deleted meanwhile, and filters are of fixed fields
  const collection = model.collection as unknown as {
    insertMany(records: object[], options: object): Promise<unknown>;
    bulkWrite(operations: object[], options: object): Promise<unknown>;
    updateMany(filter: object, update: object): Promise<{ matchedCount: number }>;
    updateOne(filter: object, update: object): Promise<{ matchedCount: number }>;
    countDocuments(filter: object): Promise<number>;
    deleteMany(filter: object): Promise<unknown>;
    find(filter: object, options: object): { toArray(): Promise<{ _id: string }[]> };
  };

  const insertion = storage.defineUnit<Insertion>({
    name: `insert ${name}s`,
    // who asked has no answer, and asks again
    recovery: 'undo',
    steps: [
      {
        name: 'insert',
        async run({ records }) {
          await collection.insertMany(records, { ordered: true });
          await parents?.follow(records.map(({ _id }) => _id));
        },
        undo: ({ records }) => collection.deleteMany({ _id: { $in: records.map(({ _id }) => _id) } }),
      },
    ],
  });

  async function followWhereMoved(changes: readonly BulkChange[]): Promise<void> {
    const moved = changes.filter(({ set, before }) => parents?.has(set) || parents?.has(before));
    if (moved.length > 0) await parents?.follow(moved.map(({ id }) => id));
  }

  const update = storage.defineUnit<Update>({
    name: `update ${name}s`,
    recovery: 'finish',
    steps: [
      {
        name: 'update',
        async run({ writer, at, changes }) {
          const operations = changes.map(({ id, set, expected }) => ({
            updateOne: { filter: { _id: id, ...expected }, update: { $set: { ...set, updatedAt: at, writer } } },
          }));
          await collection.bulkWrite(operations, { ordered: false });
          const guarded = changes.filter(({ expected }) => expected).map(({ id }) => id);
          const written = guarded.length === 0 ? 0 : await collection.countDocuments({ _id: { $in: guarded }, writer });
          if (written < guarded.length) throw new Overtaken();
          await followWhereMoved(changes);
        },
        async undo({ writer, changes }) {
          const operations = changes.map(({ id, before }) => ({
            updateOne: { filter: { _id: id, writer }, update: { $set: { ...before, writer: null } } },
          }));
          await collection.bulkWrite(operations, { ordered: false });
          await followWhereMoved(changes);
        },
      },
    ],
  });

  /** Those of a deletion that have not been brought back since. */
  async function stillDeleted({ ids, deletion }: Removal): Promise<string[]> {
    const gone = { _id: { $in: ids }, deletionId: deletion.id, deletedAt: { $ne: null } };
    return (await collection.find(gone, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id);
  }

  const removal = storage.defineUnit<Removal>({
    name: `delete ${name}s`,
    recovery: 'finish',
    steps: [
      {
        name: 'mark',
        async run({ ids, deletion }) {
          await collection.updateMany({ _id: { $in: ids }, deletedAt: null }, { $set: markOf(deletion) });
          const deleted = await collection.countDocuments({ _id: { $in: ids }, deletionId: deletion.id });
          if (deleted < ids.length) throw errors.manyMissing();
        },
        async undo({ ids, deletion }) {
          const back = { $set: { deletedAt: null, deletionId: null } };
          await collection.updateMany({ _id: { $in: ids }, deletionId: deletion.id }, back);
          await parents?.follow(ids);
        },
      },
      {
        name: 'take children',
        async run(payload) {
          if (children) await children.take(await stillDeleted(payload), payload.deletion);
        },
        undo: ({ ids, deletion }) => children?.bringBack(ids, deletion.id) ?? Promise.resolve(),
      },
    ],
  });

  const restoration = storage.defineUnit<Restoration>({
    name: `restore ${name}`,
    recovery: 'finish',
    steps: [
      {
        name: 'restore',
        async run({ id, deletionId, restoration: own, deletedAt }) {
          const set = { $set: { deletedAt: null, restoration: own, updatedAt: storage.clock.now() } };
          const { matchedCount } = await collection.updateOne({ _id: id, deletionId, deletedAt }, set);
          if (matchedCount > 0) return;
          if ((await collection.countDocuments({ _id: id, restoration: own })) === 0) throw errors.oneMissing();
        },
        undo: ({ id, restoration: own, deletedAt }) =>
          collection.updateOne({ _id: id, restoration: own }, { $set: { deletedAt, restoration: null } }),
      },
      {
        name: 'bring children back',
        async run({ id, deletionId }) {
          if (children && deletionId !== null) await children.bringBack([id], deletionId);
        },
        async undo({ id, deletionId, deletedAt }) {
          if (children && deletionId !== null) await children.take([id], { id: deletionId, at: deletedAt });
        },
      },
      { name: 'follow', run: async ({ id }) => parents?.follow([id]), undo: async () => {} },
    ],
  });

  return {
    /** @returns the records with the fields that every record has */
    async insert<Fields extends object>(many: readonly Fields[]): Promise<(Fields & BulkRecord)[]> {
      const now = storage.clock.now();
      const base = { createdAt: now, updatedAt: now, deletedAt: null, writer: null, deletionId: null, restoration: null };
      const records = many.map((fields) => ({ _id: newId(storage.clock), ...fields, ...base }));
      // one alone needs no unit of work, unless it may have to follow a parent
      if (records.length === 1 && !records.some((record) => parents?.has(record))) await collection.insertMany(records, {});
      else if (records.length > 0) await insertion.run({ records });
      return records;
    },

    /** @returns whether all are changed; else none is, because one was no longer as it was expected to be */
    async update(changes: readonly BulkChange[]): Promise<boolean> {
      try {
        await update.run({ writer: newId(storage.clock), at: storage.clock.now(), changes: [...changes] });
        return true;
      } catch (error) {
        if (error instanceof Overtaken) return false;
        throw error;
      }
    },

    /** Deletes softly, with the children. @throws manyMissing unless all were there */
    async remove(ids: readonly string[]): Promise<void> {
      await removal.run({ deletion: newDeletion(storage.clock), ids: [...ids] });
    },

    /** Brings one back, with the children that went with it. @throws oneMissing when there is nothing to restore */
    async restore(id: string, scope: Record<string, unknown> = {}): Promise<void> {
      const found = await model
        .findOne({ _id: id, ...scope } as object)
        .setOptions({ deleted: 'only' })
        .lean<BulkRecord>();
      if (!found?.deletedAt) throw errors.oneMissing();
      const { deletionId = null, deletedAt } = found;
      await restoration.run({ restoration: newId(storage.clock), id, deletionId, deletedAt });
    },
  };
}
