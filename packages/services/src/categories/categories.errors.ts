import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const categoryErrors = defineErrors('categories', {
  /** Of a category in the path (spec, "Errors", rule 3; decisions A17). */
  doesNotExist: [404, 'Category does not exist'],
  /** Of a category that something refers to, and of one that is to be restored. */
  notFound: [404, 'Category not found'],
  nothingToUpdate: [400, 'Failed to update category'],
  cycle: [409, 'Category cannot be below itself'],
});
