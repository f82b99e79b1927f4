import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import { hasOwnData } from '../shared/changes.js';
import { existingIn } from '../shared/existing.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { createTree } from '../shared/trees.js';
import { categoryErrors as errors } from './categories.errors.js';
import { categoryKind, categoryList, type Category, type CategoryPatch, type NewCategory } from './categories.schemas.js';
import { categoryModel, type CategoryRecord } from './category.model.js';
import type { CategoryStatus } from './category-status.js';

export type CategoriesService = ReturnType<typeof createCategoriesService>;

function show(record: CategoryRecord): Category {
  const { treeVersion, metadata = {}, ...category } = present(record);
  return { ...category, metadata, parent: category.parent ?? null };
}

/** Categories in a tree. Ids are UUID strings; nothing here depends on HTTP. */
export function createCategoriesService({ storage, lists }: { storage: Storage; lists: Lists }) {
  const Categories = storage.model(categoryModel);
  const tree = createTree({
    storage,
    model: Categories,
    parentField: 'parent',
    cycle: errors.cycle,
    missing: errors.doesNotExist,
  });

  /** @throws errors.notFound when the category does not exist */
  async function mustExist(categoryId: string): Promise<void> {
    if (!(await Categories.exists({ _id: categoryId }))) throw errors.notFound();
  }

  const showOne = lists.one(categoryList, show);

  lists.relate(categoryKind, { model: Categories as never, show });
  lists.tell('category', categoryList, { show });

  return {
    /** Those of the given categories that are live. */
    existing: existingIn(Categories),

    /** @throws errors.notFound when the parent is missing */
    async create({ parent = null, ...given }: NewCategory, id = newId(storage.clock)): Promise<Category> {
      if (parent !== null) await mustExist(parent);
      const record = await Categories.create({ _id: id, ...given, parent });
      return show(record.toObject());
    },

    made: madeIn(Categories, show),

    list(query: ListQuery): Promise<ListAnswer<Category>> {
      return lists.answer(categoryList, Categories, { show }, query);
    },

    /** @throws errors.doesNotExist */
    async get(categoryId: string, query?: ReadQuery): Promise<Category> {
      return lists.find(categoryList, Categories, { _id: categoryId }, { show }, errors.doesNotExist, query);
    },

    /**
     * Changes the given fields in one write. A new parent never creates a cycle, even with concurrent moves.
     * @throws errors.nothingToUpdate for an empty change, notFound when the parent is missing, cycle, doesNotExist
     */
    async patch(categoryId: string, patch: CategoryPatch): Promise<Category> {
      const { parent, ...set } = givenOf(patch);
      if (parent !== undefined || hasOwnData(set)) {
        if (typeof parent === 'string') await mustExist(parent);
        await tree.move(categoryId, parent, set);
        return this.get(categoryId);
      }
      if (Object.keys(set).length === 0) throw errors.nothingToUpdate();
      await tree.finishPending();
      const options = { returnDocument: 'after' } as const;
      const record = await Categories.findByIdAndUpdate(categoryId, { $set: set }, options).lean<CategoryRecord>();
      return showOne(record, errors.doesNotExist);
    },

    /** Enables or disables a category. Idempotent. @throws errors.doesNotExist */
    async setStatus(categoryId: string, status: CategoryStatus): Promise<void> {
      const { matchedCount } = await Categories.updateOne({ _id: categoryId }, { $set: { status } });
      if (matchedCount === 0) throw errors.doesNotExist();
    },

    /**
     * Soft-deletes a category. Its subcategories keep the reference, and are below it again after a restore. @throws
     * errors.doesNotExist
     */
    async delete(categoryId: string): Promise<void> {
      // takes turns with merges and moves: one decided before would be written after the deletion
      await tree.change(async () => {
        if (!(await Categories.exists({ _id: categoryId }))) throw errors.doesNotExist();
        const now = storage.clock.now();
        return { id: categoryId, set: { deletedAt: now, updatedAt: now } };
      });
    },

    /** @throws errors.notFound when there is nothing to restore */
    async restore(categoryId: string): Promise<Category> {
      return showOne(await Categories.restore(categoryId), errors.notFound);
    },
  };
}
