import { defineErrors } from '@tandem/core';

/** What lists answer beside failed validations (decisions L5). Every operation that lists declares them. */
export const listErrors = defineErrors('lists', {
  invalidNextToken: [400, 'Invalid $nextToken'],
});
