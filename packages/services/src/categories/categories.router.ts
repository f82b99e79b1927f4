import { admin, allow, authenticated, defineRule, publicProcedure, rest, router } from '@tandem/core';
import { z } from 'zod';
import { askedBy } from '../shared/asked-by.js';
import { listErrors } from '../shared/lists.errors.js';
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
    create: authenticated
      .meta(
        rest('POST /categories', {
          status: 201,
          summary: 'Create a category',
          failure: 'Failed to create category',
          errors: [errors.notFound],
        }),
      )
      .use(allow(admin))
      .input(createCategoryInput)
      .output(CategorySchema)
      .mutation(({ input }) => categories.create(input)),

    list: publicProcedure
      .meta(
        rest('GET /categories', {
          summary: 'List categories, newest first',
          failure: 'Failed to find categories',
          errors: [listErrors.invalidNextToken],
        }),
      )
      .input(categoryList.input)
      .output(categoryList.output)
      .query(({ ctx, input }) => categories.list(askedBy(ctx, input))),

    get: publicProcedure
      .meta(
        rest('GET /categories/{categoryId}', {
          summary: 'Read a category',
          failure: 'Failed to get category',
          errors: [errors.doesNotExist],
        }),
      )
      .input(categoryInput)
      .output(CategorySchema)
      .query(({ input }) => categories.get(input.categoryId)),

    patch: authenticated
      .meta(
        rest('PATCH /categories/{categoryId}', {
          summary: 'Change a category, or move it below another',
          failure: 'Failed to update category',
          errors: [errors.notFound, errors.nothingToUpdate, errors.cycle],
        }),
      )
      .use(allow(exists))
      .use(allow(admin))
      .input(categoryPatchInput)
      .output(CategorySchema)
      .mutation(({ input: { categoryId, ...patch } }) => categories.patch(categoryId, patch)),

    delete: authenticated
      .meta(
        rest('DELETE /categories/{categoryId}', {
          status: 204,
          summary: 'Delete a category',
          failure: 'Failed to delete category',
        }),
      )
      .use(allow(exists))
      .use(allow(admin))
      .input(categoryInput)
      .output(z.void())
      .mutation(({ input }) => categories.delete(input.categoryId)),

    enable: authenticated
      .meta(
        rest('POST /categories/{categoryId}/enable', {
          status: 204,
          summary: 'Make a category active',
          failure: 'Failed to enable category',
        }),
      )
      .use(allow(exists))
      .use(allow(admin))
      .input(categoryInput)
      .output(z.void())
      .mutation(({ input }) => categories.setStatus(input.categoryId, 'active')),

    disable: authenticated
      .meta(
        rest('POST /categories/{categoryId}/disable', {
          status: 204,
          summary: 'Make a category inactive',
          failure: 'Failed to disable category',
        }),
      )
      .use(allow(exists))
      .use(allow(admin))
      .input(categoryInput)
      .output(z.void())
      .mutation(({ input }) => categories.setStatus(input.categoryId, 'inactive')),

    restore: authenticated
      .meta(
        rest('POST /categories/{categoryId}/restore', {
          summary: 'Restore a deleted category',
          failure: 'Failed to restore category',
          errors: [errors.notFound],
        }),
      )
      .use(allow(admin))
      .input(categoryInput)
      .output(CategorySchema)
      .mutation(({ input }) => categories.restore(input.categoryId)),
  });
}
