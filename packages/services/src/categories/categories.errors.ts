import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const categoryErrors = defineErrors('categories', {
  /** For a category in the path (spec, "Errors", rule 3; decisions A17). */
  doesNotExist: [404, 'Category does not exist'],
  /** For a category that a record refers to, and for restores. */
  notFound: [404, 'Category not found'],
  nothingToUpdate: [400, 'Failed to update category'],
  cycle: [409, 'Category cannot be below itself'],
});
