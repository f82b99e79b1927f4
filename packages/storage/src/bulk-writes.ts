import { setImmediate } from 'node:timers/promises';
import mongoose from 'mongoose';
import { deletionFields, type Deletable } from './cascades.js';
import { newId } from './ids.js';
import type { ModelDefinition } from './model.js';
import { searchOf } from './search.js';
import type { Storage } from './storage.js';
import type { UnitStep } from './units.js';

/** A record that bulk writes change. */
export interface BulkRecord extends Deletable {
  /** Replaced by every change of the record's fields, so that a unit of work detects concurrent changes. Shown to nobody. */
  writer?: string | null;
}
export const bulkFields = { writer: String, ...deletionFields } as const;

/** The change of one record in a bulk update. */
export interface BulkChange {
  id: string;
  set: Record<string, unknown>;
  /** The previous values of the fields in `set`. */
  before: Record<string, unknown>;
  /** Added to the write's filter beside the id: the write matches only if nobody has changed the record since it was read. */
  expected: { writer: string | null } & Record<string, unknown>;
}

interface Insertion {
  records: { _id: string; createdAt: Date }[];
}
interface Update {
  writer: string;
  at: Date;
  changes: BulkChange[];
}
interface BulkSettings {
  /** The error for records that are too large to be written together. */
  tooLarge(): Error;
}
/** Maximum size of what is written together, as one intent: MongoDB refuses documents over 16 MiB, with a small cache earlier. */
const BYTES_MAX = 8 * 1024 * 1024;

/** A record of a bulk update no longer matched what its change expected. */
class Overtaken extends Error {}

/**
 * Creates and updates many records, all or none, even if the process crashes between two writes (decision R10). Records that get
 * a parent by it, by a cascade whose records move, are deleted with that parent, even if its deletion could not see them.
 */
export function defineBulkWrites<R extends BulkRecord>(
  storage: Storage,
  definition: ModelDefinition<R>,
  { tooLarge }: BulkSettings,
) {
  const { collectionName, searched } = definition;
  // uses the driver, because a record may be deleted while it is written; the filters use fixed fields and need no casts
  const collection = storage.model(definition).collection as unknown as {
    insertMany(records: object[], options: object): Promise<unknown>;
    bulkWrite(operations: object[], options: object): Promise<{ matchedCount: number }>;
    countDocuments(filter: object): Promise<number>;
    deleteMany(filter: object): Promise<unknown>;
  };
  const idsOf = (records: readonly { _id: string }[]) => records.map(({ _id }) => _id);

  const moving = definition.cascades.filter(({ moves }) => moves);
  const hasParent = (fields: object) => moving.some(({ by }) => typeof Reflect.get(fields, by) === 'string');
  const follow = (ids: readonly string[]) => storage.cascades.followParents({ collectionName, cascades: moving }, ids);
  const idsMoved = (changes: readonly BulkChange[]) =>
    changes.filter(({ set, before }) => hasParent(set) || hasParent(before)).map(({ id }) => id);
  /** The last step of a unit whose records can have parents. `written` selects the records to check. */
  function following<Payload>(written: (payload: Payload) => string[]): UnitStep<Payload>[] {
    if (moving.length === 0) return [];
    return [{ name: 'parents', run: (payload) => follow(written(payload)), undo: () => Promise.resolve() }];
  }

  const insertion = storage.defineUnit<Insertion>({
    name: `${collectionName}.insert`,
    steps: [
      {
        name: 'insert',
        run: (_, fence) => fence.insert(collectionName, 'records'),
        isDone: async ({ records }) => (await collection.countDocuments({ _id: { $in: idsOf(records) } })) === records.length,
        // a later attempt with the same key may have made them, under the same ids
        undo: ({ records }) => collection.deleteMany({ _id: { $in: idsOf(records) }, createdAt: records[0]?.createdAt }),
      },
      ...following<Insertion>(({ records }) => idsOf(records)),
    ],
  });

  const update = storage.defineUnit<Update>({
    name: `${collectionName}.update`,
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
          const operations = changes.map(({ id, set, before, expected }) => {
            const added = Object.keys(set).filter((field) => !Object.hasOwn(before, field));
            const $unset = Object.fromEntries(added.map((field) => [field, '']));
            const update = { $set: { ...before, writer: expected.writer }, ...(added.length > 0 && { $unset }) };
            return { updateOne: { filter: { _id: id, writer }, update } };
          });
          await collection.bulkWrite(operations, { ordered: false });
          await follow(idsMoved(changes));
        },
      },
      ...following<Update>(({ changes }) => idsMoved(changes)),
    ],
  });

  /** @throws `tooLarge` */
  async function mustFit(many: readonly object[]): Promise<void> {
    const entries: object[] = [];
    for (const record of many) {
      const fields: object = 'set' in record ? Object(record.set) : record;
      const given = searched.filter((field) => Object.hasOwn(fields, field));
      entries.push(searchOf(fields, given));
      // long texts take milliseconds each: others get their turns meanwhile
      await setImmediate();
    }
    const isTooLarge = [many, entries].some((all) => mongoose.mongo.BSON.calculateObjectSize(all) > BYTES_MAX);
    if (isTooLarge) throw tooLarge();
  }

  return {
    /**
     * @param nextId makes their ids; with the same first one, at most one insertion is under way
     * @returns the stored records, with the base fields filled in
     * @throws `tooLarge`
     */
    async insert<Fields extends object>(
      many: readonly Fields[],
      nextId = () => newId(storage.clock),
    ): Promise<(Fields & BulkRecord)[]> {
      const now = storage.clock.now();
      const records = many.map((fields) => ({
        _id: nextId(),
        ...fields,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }));
      // a single record needs no unit of work, unless its parent may be deleted meanwhile
      if (records.length === 1 && !records.some(hasParent)) await collection.insertMany(records, {});
      else if (records.length > 0) {
        await mustFit(records);
        await insertion.run({ records }, records[0]?._id);
      }
      return records;
    },

    /**
     * @returns true when all records were changed; false when none were, because one no longer matched `expected`
     * @throws `tooLarge`
     */
    async update(changes: readonly BulkChange[]): Promise<boolean> {
      await mustFit(changes);
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
