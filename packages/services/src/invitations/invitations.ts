import { defineService } from '../shared/define-service.js';
import { invitationErrors } from './invitations.errors.js';
import { createInvitationsRouter } from './invitations.router.js';
import { invitationList } from './invitations.schemas.js';

export const invitations = defineService({
  name: 'invitations',
  description: 'Invitations by mail, to sign up or to join an organization.',
  router: createInvitationsRouter,
  lists: { list: invitationList },
  tells: ['invitation'],
  errors: { invitations: invitationErrors },
});
