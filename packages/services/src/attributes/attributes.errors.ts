import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const attributeErrors = defineErrors('attributes', {
  notFound: [404, 'Attribute group not found'],
  notFoundToDelete: [404, 'Attribute not found'],
  nothingToUpdate: [400, 'Failed to update attribute group'],
});
