import { defineErrors } from '@tandem/core';

/** Every failure of the service, once: status and the spec's exact words. */
export const identityErrors = defineErrors({
  notFound: [404, 'Identity not found'],
  nothingToUpdate: [400, 'Failed to update identity'],
  emailTaken: [409, 'Email already in use'],
});
