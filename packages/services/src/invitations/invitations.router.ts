import {
  admin,
  anyOf,
  authenticatedRoute,
  authenticationErrors,
  defineRule,
  notGuest,
  organizationRole,
  requestErrors,
  router,
  ruleErrors,
} from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { requestFactsOf } from '../audit/request-facts.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import { verifiedEmail } from '../identities/verified-email.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { MANAGING_ROLES, isManaging } from '../organizations/roles.js';
import { actorOf } from '../shared/actor.js';
import { createRoute, deleteRoute, getRoute, listRoute } from '../shared/record-routes.js';
import { invitationErrors as errors } from './invitations.errors.js';
import {
  InvitationSchema,
  acceptInvitationInput,
  createInvitationInput,
  invitationInput,
  invitationList,
} from './invitations.schemas.js';
import type { AcceptanceService } from './acceptance.service.js';
import type { InvitationsService } from './invitations.service.js';

export interface InvitationsRouterOptions {
  invitations: InvitationsService;
  acceptance: AcceptanceService;
  organizations: Pick<OrganizationsService, 'roleOf'>;
  identities: Pick<IdentitiesService, 'isEmailVerified'>;
}

const invitation = {
  one: 'invitation',
  many: 'invitations',
  output: InvitationSchema,
  list: invitationList,
  idInput: invitationInput,
  errors,
};

/** Invitation routes (decisions A8): owners and admins of an organization manage its invitations, admins all. */
export function createInvitationsRouter({ invitations, acceptance, organizations, identities }: InvitationsRouterOptions) {
  const managesNamed = organizationRole('organizationId', MANAGING_ROLES, organizations.roleOf);
  const managesInvitations = defineRule(
    "an owner or admin of the invitation's organization",
    [ruleErrors.notMember],
    async ({ ctx, valueOf }) => {
      const invitationId = await valueOf('invitationId');
      const organizationId = invitationId === undefined ? undefined : await invitations.organizationIdOf(invitationId);
      const role = organizationId === undefined ? undefined : await organizations.roleOf(organizationId, ctx.identity.id);
      if (!isManaging(role)) throw ruleErrors.notMember();
    },
  );

  return router({
    create: createRoute(invitation, 'POST /invitations', createInvitationInput, {
      summary: 'Invite an address to create an account, or to join an organization',
      made: invitations.made,
      errors: [errors.alreadyPending, organizationErrors.notFound, requestErrors.tooMany],
      allow: [notGuest, anyOf(admin, managesNamed), verifiedEmail(identities)],
    }).mutation(({ ctx, input }) => invitations.create(input, actorOf(ctx), requestFactsOf(ctx), ctx.newId?.())),

    list: listRoute(invitation, 'GET /invitations', invitationList, { allow: [anyOf(admin, managesNamed)] }).query(
      ({ ctx, input }) => invitations.list(askedBy(ctx, input)),
    ),

    get: getRoute(invitation, 'GET /invitations/{invitationId}', {
      // it expires without a change of the record
      mayBeUnchanged: false,
      allow: [anyOf(admin, managesInvitations)],
    }).query(({ input }) => invitations.get(input.invitationId, input)),

    delete: deleteRoute(invitation, 'DELETE /invitations/{invitationId}', {
      summary: 'Delete an invitation, so that it cannot be accepted',
      allow: [notGuest, anyOf(admin, managesInvitations)],
    }).mutation(({ ctx, input }) => invitations.delete(input.invitationId, requestFactsOf(ctx))),

    accept: authenticatedRoute('POST /invitations/accept', {
      status: 204,
      summary: 'Accept an invitation with an existing account',
      failure: 'Failed to accept invitation',
      errors: [
        authenticationErrors.unverified,
        authenticationErrors.wrongType,
        errors.wrongEmail,
        organizationErrors.notFound,
        organizationErrors.nameTaken,
        organizationErrors.tooManyMembers,
      ],
    })
      .input(acceptInvitationInput)
      .mutation(({ ctx, input }) => acceptance.accept(input.token, ctx.identity, requestFactsOf(ctx))),
  });
}
