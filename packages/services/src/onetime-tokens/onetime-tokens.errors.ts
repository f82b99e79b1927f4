import { defineErrors } from '@tandem/core';

/** Every failure of the service, once. Tokens that do not count are refused as all tokens are: by the core's errors. */
export const onetimeTokenErrors = defineErrors('onetimeTokens', {
  notRestorable: [409, 'One-time token cannot be restored'],
});
