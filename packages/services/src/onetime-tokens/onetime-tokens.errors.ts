import { defineErrors } from '@tandem/core';

/** The errors of the service. Core declares those of invalid tokens. */
export const onetimeTokenErrors = defineErrors('onetimeTokens', {
  notRestorable: [409, 'One-time token cannot be restored'],
});
