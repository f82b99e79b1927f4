import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const attributeErrors = defineErrors('attributes', {
  notFound: [404, 'Attribute group not found'],
  notFoundToDelete: [404, 'Attribute not found'],
  nothingToUpdate: [400, 'Failed to update attribute group'],
});
