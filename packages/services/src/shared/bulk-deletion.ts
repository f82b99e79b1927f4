import { newId, type Model, type Storage } from '@tandem/storage';
import type { BulkRecord, Parents } from './bulk-writes.js';
import { deletionsIn, followParents, markOf, newDeletion, type ChildrenOfMany, type Deletion } from './deletion.js';

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

interface BulkDeletionOptions<R extends BulkRecord> {
  storage: Storage;
  model: Model<R>;
  /** Singular noun for unit names, such as "product". */
  name: string;
  children?: ChildrenOfMany;
  parents?: Parents;
  /** `manyMissing` is thrown by `remove`, `oneMissing` by `restore`. */
  manyMissing(): Error;
  oneMissing(): Error;
}

/**
 * Soft-deletes many records with their children, all or none, and restores single ones. Both survive a process crash between two
 * writes (decisions R2, R10).
 */
export function createBulkDeletion<R extends BulkRecord>(options: BulkDeletionOptions<R>) {
  const { storage, model, name, children, parents, ...errors } = options;
  // uses the driver, because Mongoose would hide deleted records; the filters use fixed fields and need no casts
  const collection = model.collection as unknown as {
    updateMany(filter: object, update: object): Promise<{ matchedCount: number }>;
    updateOne(filter: object, update: object): Promise<{ matchedCount: number }>;
    countDocuments(filter: object): Promise<number>;
  };

  const deletionsOf = deletionsIn(model);
  const followAll = async (ids: readonly string[], deletion: Pick<Deletion, 'id'>) =>
    children && followParents(ids, deletion, { children, deletionsOf });

  const removal = storage.defineUnit<Removal>({
    name: `delete ${name}s`,
    steps: [
      {
        name: 'mark',
        async run({ ids, deletion }, { open }) {
          const live = { _id: { $in: ids }, deletedAt: null, ...open };
          const { matchedCount } = await collection.updateMany(live, { $set: markOf(deletion) });
          if (matchedCount < ids.length) throw errors.manyMissing();
        },
        async isDone({ ids, deletion: { id } }) {
          const untouched = { _id: { $in: ids }, deletedAt: null, deletionId: { $ne: id } };
          return (await collection.countDocuments(untouched)) === 0;
        },
        async undo({ ids, deletion }) {
          const own = { _id: { $in: ids }, deletionId: deletion.id, deletedAt: deletion.at };
          await collection.updateMany(own, { $set: { deletedAt: null, deletionId: null } });
          await followAll(ids, deletion);
          await parents?.follow(ids);
        },
      },
      { name: 'children', run: ({ ids, deletion }) => followAll(ids, deletion), undo: async () => {} },
    ],
  });

  const restoration = storage.defineUnit<Restoration>({
    name: `restore ${name}`,
    steps: [
      {
        name: 'restore',
        async run({ id, deletionId, restoration: own, deletedAt }, { open }) {
          const set = { $set: { deletedAt: null, restoration: own, updatedAt: storage.clock.now() } };
          const { matchedCount } = await collection.updateOne({ _id: id, deletionId, deletedAt, ...open }, set);
          if (matchedCount === 0) throw errors.oneMissing();
        },
        isDone: async ({ id, restoration: own }) => (await collection.countDocuments({ _id: id, restoration: own })) > 0,
        async undo({ id, deletionId, restoration: own, deletedAt }) {
          const live = { _id: id, restoration: own, deletionId, deletedAt: null };
          await collection.updateOne(live, { $set: { deletedAt, restoration: null } });
          if (deletionId !== null) await followAll([id], { id: deletionId });
        },
      },
      {
        name: 'children',
        run: async ({ id, deletionId }) => deletionId !== null && followAll([id], { id: deletionId }),
        undo: async () => {},
      },
      { name: 'follow', run: async ({ id }) => parents?.follow([id]), undo: async () => {} },
    ],
  });

  return {
    /** The deletions of those given records that are deleted, by record id. */
    deletionsOf,

    /** Soft-deletes the records and their children. @throws manyMissing unless all exist */
    async remove(ids: readonly string[]): Promise<void> {
      await removal.run({ deletion: newDeletion(storage.clock), ids: [...ids] });
    },

    /** Restores a record and the children deleted with it. @throws oneMissing when there is nothing to restore */
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
