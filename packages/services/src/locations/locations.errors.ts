import { defineErrors } from '@tandem/core';

/** Maximum depth of the location tree. */
export const MAX_DEPTH = 50;

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const locationErrors = defineErrors('locations', {
  notFound: [404, 'Location not found'],
  nothingToUpdate: [400, 'Failed to update location'],
  hasDescendants: [409, 'Dependent child locations still exist'],
  cycle: [409, 'Location cannot be below itself'],
  tooDeep: [409, `Locations must NOT be nested more than ${MAX_DEPTH} levels deep`],
  parentDeleted: [409, 'Parent location does not exist'],
});
