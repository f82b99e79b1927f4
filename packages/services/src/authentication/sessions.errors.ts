import { defineErrors } from '@tandem/core';

/** Every failure of the sessions that a person sees, once. */
export const sessionErrors = defineErrors({
  notFound: [404, 'Session not found'],
});
