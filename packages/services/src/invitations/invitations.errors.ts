import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, of organizations and of tokens, once. */
export const invitationErrors = defineErrors('invitations', {
  notFound: [404, 'Invitation not found'],
  wrongEmail: [403, 'Invitation is for another email address'],
  alreadyPending: [409, 'Invitation already pending'],
});
