import { newId, type Live, type Model, type Storage, type UnitStep } from '@tandem/storage';

/** What records carry that are written many at once. Neither field leaves the server. */
export interface BulkRecord extends Live {
  /** Made anew by each change of its fields, of many at once or of its own: so a unit sees what was changed since it looked. */
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
  /** What its write needs to be true still, beside its id: that nobody has changed it since these were read. */
  expected: { writer: string | null; price?: unknown };
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
/** One of many was no longer as its change expected it. */
class Overtaken extends Error {}

interface BulkOptions<R extends BulkRecord> {
  storage: Storage;
  model: Model<R>;
  /** Of one record, in the names of the units: "product". */
  name: string;
  parents?: Parents;
}

/** Creates and changes many records, all or none, also when the process dies between two writes (decisions R10). */
export function createBulkWrites<R extends BulkRecord>({ storage, model, name, parents }: BulkOptions<R>) {
  // by the driver: what is being written may have been deleted meanwhile, and filters are of fixed fields
  const collection = model.collection as unknown as {
    collectionName: string;
    insertMany(records: object[], options: object): Promise<unknown>;
    bulkWrite(operations: object[], options: object): Promise<{ matchedCount: number }>;
    countDocuments(filter: object): Promise<number>;
    deleteMany(filter: object): Promise<unknown>;
  };
  const idsOf = (records: readonly { _id: string }[]) => records.map(({ _id }) => _id);

  /** The last step, where there are parents: what it goes with is asked for by each run. */
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
        // a record that somebody else has changed since is theirs
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
  };
}
