import { defineErrors } from '@tandem/core';

/** The errors of the session routes. */
export const sessionErrors = defineErrors('sessions', {
  notFound: [404, 'Session not found'],
});
