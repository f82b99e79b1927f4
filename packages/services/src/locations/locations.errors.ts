import { defineErrors } from '@tandem/core';

/** Most levels that locations may have below each other. */
export const MAX_DEPTH = 50;

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const locationErrors = defineErrors('locations', {
  notFound: [404, 'Location not found'],
  nothingToUpdate: [400, 'Failed to update location'],
  hasDescendants: [409, 'Dependent child locations still exist'],
  cycle: [409, 'Location cannot be below itself'],
  tooDeep: [409, `Locations must NOT be nested more than ${MAX_DEPTH} levels deep`],
  parentDeleted: [409, 'Parent location does not exist'],
});
