import { defineErrors } from '@tandem/core';

/** The errors of the service (decisions N1). */
export const peopleErrors = defineErrors('people', {
  notFound: [404, 'Person not found'],
});
