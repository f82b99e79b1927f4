import { admin, authenticatedRoute, defineRule, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { Id } from '../shared/schemas.js';
import { categoryErrors as errors } from './categories.errors.js';
import { CategorySchema, categoryInput, categoryList, categoryPatchInput, createCategoryInput } from './categories.schemas.js';
import type { CategoriesService } from './categories.service.js';

/** The category routes (spec, "Other services" and "Errors", rule 3). Anybody may read; only admins may write. */
export function createCategoriesRouter(categories: CategoriesService) {
  /** Runs before the other rules (decisions A17). A malformed id is left to input validation. */
  const exists = defineRule('a caller that names an existing category', [errors.doesNotExist], async ({ valueOf }) => {
    const categoryId = Id.safeParse(await valueOf('categoryId')).data;
    if (categoryId !== undefined && !(await categories.existing([categoryId])).has(categoryId)) throw errors.doesNotExist();
  });

  return router({
    create: authenticatedRoute('POST /categories', {
      status: 201,
      summary: 'Create a category',
      failure: 'Failed to create category',
      errors: [errors.notFound],
      allow: [admin],
    })
      .input(createCategoryInput)
      .output(CategorySchema)
      .mutation(({ input }) => categories.create(input)),

    list: publicRoute('GET /categories', {
      summary: 'List categories, newest first',
      failure: 'Failed to find categories',
      errors: [listErrors.invalidNextToken],
    })
      .input(categoryList.input)
      .output(categoryList.output)
      .query(({ ctx, input }) => categories.list(askedBy(ctx, input))),

    get: publicRoute('GET /categories/{categoryId}', {
      summary: 'Read a category',
      failure: 'Failed to get category',
      errors: [errors.doesNotExist],
    })
      .input(categoryInput)
      .output(CategorySchema)
      .query(({ input }) => categories.get(input.categoryId)),

    patch: authenticatedRoute('PATCH /categories/{categoryId}', {
      summary: 'Change a category, or move it below another',
      failure: 'Failed to update category',
      errors: [errors.notFound, errors.nothingToUpdate, errors.cycle],
      allow: [exists, admin],
    })
      .input(categoryPatchInput)
      .output(CategorySchema)
      .mutation(({ input: { categoryId, ...patch } }) => categories.patch(categoryId, patch)),

    delete: authenticatedRoute('DELETE /categories/{categoryId}', {
      status: 204,
      summary: 'Delete a category',
      failure: 'Failed to delete category',
      allow: [exists, admin],
    })
      .input(categoryInput)
      .mutation(({ input }) => categories.delete(input.categoryId)),

    enable: authenticatedRoute('POST /categories/{categoryId}/enable', {
      status: 204,
      summary: 'Make a category active',
      failure: 'Failed to enable category',
      allow: [exists, admin],
    })
      .input(categoryInput)
      .mutation(({ input }) => categories.setStatus(input.categoryId, 'active')),

    disable: authenticatedRoute('POST /categories/{categoryId}/disable', {
      status: 204,
      summary: 'Make a category inactive',
      failure: 'Failed to disable category',
      allow: [exists, admin],
    })
      .input(categoryInput)
      .mutation(({ input }) => categories.setStatus(input.categoryId, 'inactive')),

    restore: authenticatedRoute('POST /categories/{categoryId}/restore', {
      summary: 'Restore a deleted category',
      failure: 'Failed to restore category',
      errors: [errors.notFound],
      allow: [admin],
    })
      .input(categoryInput)
      .output(CategorySchema)
      .mutation(({ input }) => categories.restore(input.categoryId)),
  });
}
