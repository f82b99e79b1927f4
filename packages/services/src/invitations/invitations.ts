import { defineService } from '../shared/define-service.js';
import { invitationErrors } from './invitations.errors.js';
import { createInvitationsRouter } from './invitations.router.js';
import { invitationList } from './invitations.schemas.js';

export const invitations = defineService({
  name: 'invitations',
  router: createInvitationsRouter,
  lists: { list: invitationList },
  errors: { invitations: invitationErrors },
});
