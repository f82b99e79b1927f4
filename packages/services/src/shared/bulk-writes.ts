import { newId, type Live, type Model, type Storage, type UnitStep } from '@tandem/storage';

/** Bookkeeping fields of records that bulk writes change. They never leave the server. */
export interface BulkRecord extends Live {
  /** Replaced by every change of the record's fields, so that a unit of work detects concurrent changes. */
  writer?: string | null;
  /** The deletion that removed the record, its own or its parent's. A restore brings back all records of one deletion. */
  deletionId?: string | null;
  /** The latest restoration of this record. */
  restoration?: string | null;
}
export const bulkFields = {
  writer: { type: String, default: null },
  deletionId: { type: String, default: null },
  restoration: { type: String, default: null },
};
/** A record without its bookkeeping fields. */
export function withoutBulkFields<R extends Partial<BulkRecord>>(record: R): Omit<R, 'writer' | 'deletionId' | 'restoration'> {
  const { writer, deletionId, restoration, ...others } = record;
  return others;
}

/** The change of one record in a bulk update. */
export interface BulkChange {
  id: string;
  set: Record<string, unknown>;
  /** The previous values of the fields in `set`. */
  before: Record<string, unknown>;
  /** Added to the write's filter beside the id: the write matches only if nobody has changed the record since it was read. */
  expected: { writer: string | null; price?: unknown };
}

/** The parents that records are deleted and restored with. */
export interface Parents {
  /** Whether a record with these fields has a parent. */
  has(fields: Record<string, unknown>): boolean;
  /**
   * Runs after each write: deletes the records whose parent was deleted before the deletion could see them. Must be repeatable.
   */
  follow(ids: readonly string[]): Promise<void>;
}

/** Bookkeeping fields, which lists do not offer. */
export const BULK_HIDDEN = ['writer', 'deletionId', 'restoration'] as const;

interface Insertion {
  records: { _id: string }[];
}
interface Update {
  writer: string;
  at: Date;
  changes: BulkChange[];
}
/** A record of a bulk update no longer matched what its change expected. */
class Overtaken extends Error {}

interface BulkOptions<R extends BulkRecord> {
  storage: Storage;
  model: Model<R>;
  /** Singular noun for unit names, such as "product". */
  name: string;
  parents?: Parents;
}

/** Creates and updates many records, all or none, even if the process crashes between two writes (decisions R10). */
export function createBulkWrites<R extends BulkRecord>({ storage, model, name, parents }: BulkOptions<R>) {
  // uses the driver, because a record may be deleted while it is written; the filters use fixed fields and need no casts
  const collection = model.collection as unknown as {
    collectionName: string;
    insertMany(records: object[], options: object): Promise<unknown>;
    bulkWrite(operations: object[], options: object): Promise<{ matchedCount: number }>;
    countDocuments(filter: object): Promise<number>;
    deleteMany(filter: object): Promise<unknown>;
  };
  const idsOf = (records: readonly { _id: string }[]) => records.map(({ _id }) => _id);

  /** The last step of a unit whose records can have parents. `written` selects the records to check. */
  function following<Payload>(written: (payload: Payload) => string[]): UnitStep<Payload>[] {
    if (!parents) return [];
    return [{ name: 'follow', run: (payload) => parents.follow(written(payload)), undo: async () => {} }];
  }
  const movedBy = (changes: readonly BulkChange[]) =>
    changes.filter(({ set, before }) => parents?.has(set) || parents?.has(before)).map(({ id }) => id);

  const insertion = storage.defineUnit<Insertion>({
    name: `insert ${name}s`,
    steps: [
      {
        name: 'insert',
        run: (_, fence) => fence.insert(collection.collectionName, 'records'),
        isDone: async ({ records }) => (await collection.countDocuments({ _id: { $in: idsOf(records) } })) === records.length,
        undo: ({ records }) => collection.deleteMany({ _id: { $in: idsOf(records) } }),
      },
      ...following<Insertion>(({ records }) => idsOf(records)),
    ],
  });

  const update = storage.defineUnit<Update>({
    name: `update ${name}s`,
    steps: [
      {
        name: 'update',
        async run({ writer, at, changes }, { open }) {
          const operations = changes.map(({ id, set, expected }) => ({
            updateOne: { filter: { _id: id, ...expected, ...open }, update: { $set: { ...set, updatedAt: at, writer } } },
          }));
          const { matchedCount } = await collection.bulkWrite(operations, { ordered: false });
          if (matchedCount < changes.length) throw new Overtaken();
        },
        // a record that another writer has changed since counts as done
        async isDone({ changes }) {
          const $or = changes.map(({ id, expected: { writer } }) => ({ _id: id, writer }));
          return (await collection.countDocuments({ $or })) === 0;
        },
        async undo({ writer, changes }) {
          const operations = changes.map(({ id, before, expected }) => ({
            updateOne: { filter: { _id: id, writer }, update: { $set: { ...before, writer: expected.writer } } },
          }));
          await collection.bulkWrite(operations, { ordered: false });
          await parents?.follow(movedBy(changes));
        },
      },
      ...following<Update>(({ changes }) => movedBy(changes)),
    ],
  });

  return {
    /** @returns the stored records, with the base fields filled in */
    async insert<Fields extends object>(many: readonly Fields[]): Promise<(Fields & BulkRecord)[]> {
      const now = storage.clock.now();
      const base = { createdAt: now, updatedAt: now, deletedAt: null, writer: null, deletionId: null, restoration: null };
      const records = many.map((fields) => ({ _id: newId(storage.clock), ...fields, ...base }));
      // a single record needs no unit of work, unless its parent may be deleted meanwhile
      if (records.length === 1 && !records.some((record) => parents?.has(record))) await collection.insertMany(records, {});
      else if (records.length > 0) await insertion.run({ records });
      return records;
    },

    /** @returns true when all records were changed; false when none were, because one no longer matched `expected` */
    async update(changes: readonly BulkChange[]): Promise<boolean> {
      try {
        await update.run({ writer: newId(storage.clock), at: storage.clock.now(), changes: [...changes] });
        return true;
      } catch (error) {
        if (error instanceof Overtaken) return false;
        throw error;
      }
    },
  };
}
