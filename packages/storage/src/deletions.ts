import { withDeleted, type Deletable, type Deletion } from './cascades.js';
import { newId } from './ids.js';
import type { ModelDefinition } from './model.js';
import { PURGING } from './purges.js';
import type { Storage } from './storage.js';

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
/** What a deletion requires of a record, besides its id. In a unit of work, `$expr` is the unit's condition. */
interface Condition {
  restoration?: string;
  $expr?: object;
}
type Mark = Pick<Deletable, 'deletedAt' | 'deletionId' | 'restoration'>;

interface DeletionSettings {
  /** The error for a missing record. */
  notFound(): Error;
  /** The error for restoring a record whose parent is deleted. Needed for models with cascades. */
  parentNotFound?(): Error;
  /** Makes matching live records deleted; resolves to their number. By default the mark is all that changes. */
  mark?(ids: readonly string[], condition: Condition, mark: Mark): Promise<number>;
  /** Called at least once for a record whose deletion is done, after its children's, by the process that finishes the unit. */
  deleted?(id: string): unknown;
}

/** A record to delete or to restore was not there. */
class Missing extends Error {}

/**
 * Defines deletion and restoration of a model's records, with all that cascades below them (decision R2), as units of work. Only
 * the process that began a unit writes the records. If that process dies, a sweep does the remaining steps; it never deletes a
 * record that was restored since, or the reverse. The model needs `deletionFields`.
 */
export function defineDeletion<R extends Deletable>(
  storage: Storage,
  definition: ModelDefinition<R>,
  { notFound, parentNotFound = notFound, deleted, ...settings }: DeletionSettings,
) {
  const { collectionName, cascades } = definition;
  const records = withDeleted(storage.model(definition));
  const markLive = async (ids: readonly string[], condition: Condition, $set: Mark) =>
    (await records.updateMany({ _id: { $in: ids }, deletedAt: null, ...condition }, { $set })).matchedCount;
  const { mark = markLive } = settings;
  const follow = (ids: readonly string[], deletion: Deletion) => storage.cascades.followDown(collectionName, ids, deletion);
  // without a deletion id, a host deleted this record alone
  const followOne = async (id: string, deletionId: string | null, at: Date) =>
    deletionId !== null && follow([id], { id: deletionId, at });
  const followParents = (ids: readonly string[]) => storage.cascades.followParents(definition, ids);
  const nothing = () => Promise.resolve();

  const removals = storage.defineUnit<Removal>({
    name: `${collectionName}.delete`,
    steps: [
      {
        name: 'records',
        async run({ ids, deletion: { id, at } }, { open }) {
          if ((await mark(ids, open, { deletedAt: at, deletionId: id })) < ids.length) throw new Missing();
        },
        async isDone({ ids, deletion: { id } }) {
          const untouched = { _id: { $in: ids }, deletedAt: null, deletionId: { $ne: id } };
          return (await records.countDocuments(untouched)) === 0;
        },
        async undo({ ids, deletion }) {
          const own = { _id: { $in: ids }, deletionId: deletion.id, deletedAt: deletion.at };
          await records.updateMany(own, { $set: { deletedAt: null, deletionId: null } });
          await follow(ids, deletion);
          await followParents(ids);
        },
      },
      {
        name: 'children',
        async run({ ids, deletion }) {
          const gone = await follow(ids, deletion);
          for (const id of ids) if (gone.get(id)?.id === deletion.id) await deleted?.(id);
        },
        undo: nothing,
      },
    ],
  });

  const restorations = storage.defineUnit<Restoration>({
    name: `${collectionName}.restore`,
    steps: [
      {
        name: 'record',
        async run({ id: _id, deletionId, restoration, deletedAt }, { open }) {
          const $set = { deletedAt: null, restoration, updatedAt: storage.clock.now() };
          if ((await records.updateMany({ _id, deletionId, deletedAt, [PURGING]: null, ...open }, { $set })).matchedCount === 0)
            throw new Missing();
        },
        isDone: async ({ id: _id, restoration }) => (await records.countDocuments({ _id, restoration })) > 0,
        async undo({ id, deletionId, restoration, deletedAt }) {
          await mark([id], { restoration }, { deletedAt, deletionId, restoration: null });
          await followOne(id, deletionId, deletedAt);
        },
      },
      { name: 'children', run: ({ id, deletionId, deletedAt }) => followOne(id, deletionId, deletedAt), undo: nothing },
      { name: 'parents', run: ({ id }) => followParents([id]), undo: nothing },
    ],
  });

  /** @throws `missing` in place of `Missing` */
  async function run(unit: () => Promise<void>, missing: () => Error): Promise<void> {
    await unit().catch((error: unknown) => {
      throw error instanceof Missing ? missing() : error;
    });
  }

  return {
    /**
     * Soft-deletes records and everything below them, all or none.
     * @param scope what the records must match
     * @throws `missing` unless all exist
     */
    async delete(ids: readonly string[], missing = notFound, scope: object = {}): Promise<void> {
      // a unit that is undone would hide the others for a moment
      if ((await records.countDocuments({ _id: { $in: ids }, deletedAt: null, ...scope })) < ids.length) throw missing();
      const deletion = { id: newId(storage.clock), at: storage.clock.now() };
      await run(() => removals.run({ deletion, ids: [...ids] }), missing);
    },

    /**
     * Restores a deleted record and everything deleted with it.
     * @param scope what the record must match
     * @throws `notFound` when there is nothing to restore, `parentNotFound`; a duplicate key error (`isDuplicateKey`)
     */
    async restore(id: string, scope: object = {}): Promise<void> {
      const found = await records.findOne({ _id: id, deletedAt: { $ne: null }, [PURGING]: null, ...scope }, {});
      if (!found?.deletedAt) throw notFound();
      const { deletionId = null, deletedAt } = found;
      const parentsMustLive = async () => {
        if (!(await storage.cascades.hasParents(found, cascades))) throw parentNotFound();
      };
      await parentsMustLive();
      await run(() => restorations.run({ restoration: newId(storage.clock), id, deletionId, deletedAt }), notFound);
      // else it was deleted with its parent again
      await parentsMustLive();
    },
  };
}
