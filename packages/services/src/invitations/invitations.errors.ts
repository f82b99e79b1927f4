import { defineErrors } from '@tandem/core';

/** The errors of invitations. Rules, organizations and tokens declare their own. */
export const invitationErrors = defineErrors('invitations', {
  notFound: [404, 'Invitation not found'],
  wrongEmail: [403, 'Invitation is for another email address'],
  alreadyPending: [409, 'Invitation already pending'],
});
