import { defineErrors } from '@tandem/core';

/** Every failure of the sessions that a person sees, once. */
export const sessionErrors = defineErrors('sessions', {
  notFound: [404, 'Session not found'],
});
