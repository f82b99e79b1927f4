import { admin, defineRule, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import {
  actionRoute,
  createRoute,
  deleteRoute,
  patchRoute,
  publicGetRoute,
  publicListRoute,
  restoreRoute,
} from '../shared/record-routes.js';
import { Id } from '../shared/schemas.js';
import { categoryErrors as errors } from './categories.errors.js';
import { CategorySchema, categoryInput, categoryList, categoryPatchInput, createCategoryInput } from './categories.schemas.js';
import type { CategoriesService } from './categories.service.js';

const category = {
  one: 'category',
  many: 'categories',
  output: CategorySchema,
  list: categoryList,
  idInput: categoryInput,
  errors,
};
/** These routes have another text for a missing category (spec, "Errors", rule 3). */
const existing = { ...category, errors: { notFound: errors.doesNotExist } };

/** The category routes (spec, "Other services" and "Errors", rule 3). Anybody may read; only admins may write. */
export function createCategoriesRouter(categories: CategoriesService) {
  /** Runs before the other rules (decisions A17). A malformed id is left to input validation. */
  const exists = defineRule('a caller that names an existing category', [errors.doesNotExist], async ({ valueOf }) => {
    const categoryId = Id.safeParse(await valueOf('categoryId')).data;
    if (categoryId !== undefined && !(await categories.existing([categoryId])).has(categoryId)) throw errors.doesNotExist();
  });

  return router({
    create: createRoute(category, 'POST /categories', createCategoryInput, {
      made: categories.made,
      errors: [errors.notFound],
      allow: [admin],
    }).mutation(({ ctx, input }) => categories.create(input, ctx.newId?.())),

    list: publicListRoute(category, 'GET /categories', categoryList).query(({ ctx, input }) =>
      categories.list(askedBy(ctx, input)),
    ),

    get: publicGetRoute(existing, 'GET /categories/{categoryId}').query(({ input }) => categories.get(input.categoryId, input)),

    patch: patchRoute(category, 'PATCH /categories/{categoryId}', categoryPatchInput, {
      summary: 'Change a category, or move it below another',
      errors: [errors.cycle],
      allow: [exists, admin],
    }).mutation(({ input: { categoryId, ...patch } }) => categories.patch(categoryId, patch)),

    delete: deleteRoute(existing, 'DELETE /categories/{categoryId}', { allow: [exists, admin] }).mutation(({ input }) =>
      categories.delete(input.categoryId),
    ),

    enable: actionRoute(existing, 'POST /categories/{categoryId}/enable', 'enable', {
      summary: 'Make a category active',
      allow: [exists, admin],
    }).mutation(({ input }) => categories.setStatus(input.categoryId, 'active')),

    disable: actionRoute(existing, 'POST /categories/{categoryId}/disable', 'disable', {
      summary: 'Make a category inactive',
      allow: [exists, admin],
    }).mutation(({ input }) => categories.setStatus(input.categoryId, 'inactive')),

    restore: restoreRoute(category, 'POST /categories/{categoryId}/restore').mutation(({ input }) =>
      categories.restore(input.categoryId),
    ),
  });
}
