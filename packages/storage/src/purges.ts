import type { mongo } from 'mongoose';
import type { Cascade } from './model.js';
import type { Held } from './people.js';
import { batchesOf, isIndexed, type Pace, type Records, type StoredRecord } from './people-records.js';
import { TRACE } from './traces.js';

interface PurgesOptions {
  models: ReadonlyMap<string, Held>;
  database: () => mongo.Db;
  onWrite(collectionName: string): void;
}

/**
 * Runs when records of a collection are about to go for good.
 * @param isWhole whether all of their parent go with it
 * @returns those that may go now; default all
 */
export type BeforePurge = (ids: readonly string[], isWhole: boolean) => Promise<readonly string[] | void>;

/** Tells which deleted records stay although their time has passed: they can be restored. */
export type KeepDeleted = (ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Removes records for good, with their children and files (decisions F8). */
export function createPurges({ models, database, onWrite }: PurgesOptions) {
  const listeners = new Map<string, BeforePurge[]>();
  const keepers = new Map<string, KeepDeleted>();
  const conditions = new Map<string, object>();
  let removeFiles: (purposes: readonly string[], resourceIds: readonly string[]) => Promise<void> = async () => {};
  const recordsOf = (name: string): Records => database().collection<StoredRecord>(name);

  function links(): (Cascade & { held: Held })[] {
    return [...models.values()].flatMap((held) => {
      const { cascades, goesWith } = held.definition;
      return [...cascades, ...goesWith].map((one: Cascade) => ({ ...one, held }));
    });
  }

  async function mayGo(collectionName: string, ids: readonly string[], isWhole: boolean): Promise<readonly string[]> {
    let left = ids;
    for (const listener of listeners.get(collectionName) ?? []) left = (await listener(left, isWhole)) ?? left;
    return left;
  }

  /** Those of deleted records that no restoration brings back: what was deleted with its parent goes with it, or stays. */
  async function withoutParents(cascades: readonly Cascade[], deleted: readonly StoredRecord[]): Promise<string[]> {
    const kept = new Set<string>();
    for (const { with: parents, by } of cascades) {
      const those = { _id: { $in: deleted.map((one) => String(one[by])) }, deletionId: { $type: 'string' }, [PURGING]: null };
      const found = await recordsOf(parents)
        .find(those as object, { projection: { deletionId: 1 } })
        .toArray();
      const deletions = new Map(found.map(({ _id, deletionId }) => [_id, deletionId]));
      for (const { _id, deletionId, hiddenBy, [by]: parentId } of deleted) {
        const deletion = deletions.get(String(parentId));
        const own = [deletionId, ...(Array.isArray(hiddenBy) ? (hiddenBy as unknown[]) : [])];
        if (deletion !== undefined && own.includes(deletion)) kept.add(_id);
      }
    }
    return deleted.flatMap(({ _id }) => (kept.has(_id) ? [] : _id));
  }

  /** Children go first: a process that dies leaves the parent, from which the next one begins again. */
  async function purge(collectionName: string, ids: readonly string[], pace: Pace, isWhole = false): Promise<number> {
    const going = ids.length > 0 ? [...(await mayGo(collectionName, ids, isWhole))] : [];
    if (going.length === 0) return 0;
    for (const { held, by } of links().filter((one) => one.with === collectionName)) {
      const filter = { [by]: { $in: going } };
      for await (const batch of batchesOf(recordsOf(held.definition.collectionName), held.definition, { path: by, filter }, pace))
        await purge(
          held.definition.collectionName,
          batch.map(({ _id }) => _id),
          pace,
          true,
        );
    }
    const { files } = models.get(collectionName)?.definition ?? { files: [] };
    if (files.length > 0) await removeFiles(files, going);
    const { deletedCount } = await recordsOf(collectionName).deleteMany({ _id: { $in: going } });
    onWrite(collectionName);
    return deletedCount;
  }

  return {
    purge,

    /** Fields by which purges look for what goes along, but have to look through a whole collection. */
    unindexed: (): string[] =>
      links().flatMap(({ held: { definition }, by }) =>
        isIndexed(definition, by, {}) ? [] : `${definition.collectionName}.${by}`,
      ),

    /** Calls `listener` before records of a collection go for good. */
    before(collectionName: string, listener: BeforePurge): void {
      listeners.set(collectionName, [...(listeners.get(collectionName) ?? []), listener]);
    },

    /** Asks `keeper` which deleted records of a collection stay. One for each collection. */
    keep(collectionName: string, keeper: KeepDeleted): void {
      keepers.set(collectionName, keeper);
    },

    /** Of a collection's deleted records only those go that match this too when they are marked. */
    onlyWhere(collectionName: string, condition: object): void {
      conditions.set(collectionName, condition);
    },

    /** Who removes the files of records that go. */
    filesBy(remove: typeof removeFiles): void {
      removeFiles = remove;
    },

    /**
     * Removes the records of a collection that were deleted before a time, with all that belongs to them. They can be restored until
     * this marks them. Repeatable.
     * @returns how many of the collection have gone
     */
    async deletedBefore(collectionName: string, time: Date, pace: Pace): Promise<number> {
      const held = models.get(collectionName);
      if (!held?.definition.softDelete) return 0;
      const records = recordsOf(collectionName);
      const { cascades, deletedRecords, traced } = held.definition;
      const settled = traced && { [`${TRACE}.since`]: { $exists: false } };
      // as the index has it
      const filter = {
        deletedAt: { $gt: new Date(0), $lte: time },
        ...deletedRecords,
        ...settled,
        ...conditions.get(collectionName),
      };
      const names = ['_id', 'deletionId', 'hiddenBy', ...cascades.map(({ by }) => by)];
      const fields = Object.fromEntries(names.map((name) => [name, 1 as const]));
      let gone = 0;
      for await (const batch of batchesOf(records, held.definition, { path: 'deletedAt', filter, fields }, pace)) {
        const going = await withoutParents(cascades, batch);
        const kept = await keepers.get(collectionName)?.(going);
        const ids = going.filter((id) => !kept?.has(id));
        if (ids.length === 0) continue;
        await records.updateMany({ _id: { $in: ids }, ...filter }, { $set: { [PURGING]: true } });
        const marked = await records.find({ _id: { $in: ids }, [PURGING]: true }, { projection: { _id: 1 } }).toArray();
        gone += await purge(
          collectionName,
          marked.map(({ _id }) => _id),
          pace,
        );
      }
      return gone;
    },
  };
}

/** Marks a deleted record that goes for good: it cannot be restored. */
export const PURGING = 'purging';
