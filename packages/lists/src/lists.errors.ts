import { defineErrors } from '@tandem/core';

/** Errors of lists besides failed validation (decisions L5). Every list operation declares them. */
export const listErrors = defineErrors('lists', {
  invalidNextToken: [400, 'Invalid $nextToken'],
});
