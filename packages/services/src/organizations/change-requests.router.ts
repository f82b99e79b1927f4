import { admin, anyOf, authenticatedRoute, notGuest, organizationRole, router, validationError } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { ATTACH_ERRORS } from '../files/files.errors.js';
import { createRoute, listRoute } from '../shared/record-routes.js';
import {
  ChangeRequestSchema,
  changeRequestInput,
  changeRequestList,
  createChangeRequestInput,
} from './change-requests.schemas.js';
import type { ChangeRequestsService } from './change-requests.service.js';
import { organizationErrors as errors } from './organizations.errors.js';
import type { OrganizationRole } from './roles.js';

interface ChangeRequestsRouterOptions {
  changeRequests: ChangeRequestsService;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

const changeRequest = { one: 'organization change request', many: 'organization change requests', output: ChangeRequestSchema };

/** The change request routes of the spec ("Other services"), part of the organizations router. */
export function createChangeRequestsRouter({ changeRequests, roleOf }: ChangeRequestsRouterOptions) {
  const ownOrganization = anyOf(admin, organizationRole('organizationId', ['owner'], roleOf));
  return router({
    requestChange: createRoute(changeRequest, 'POST /organizations/{organizationId}/change-requests', createChangeRequestInput, {
      summary: 'Ask the admin for a change of an organization',
      made: changeRequests.made,
      errors: [errors.notFound, errors.nameTaken, ...ATTACH_ERRORS],
      allow: [notGuest, ownOrganization],
    }).mutation(({ ctx, input: { organizationId, ...given } }) => {
      if (Object.keys(given).length === 0) throw validationError(['request body must NOT have fewer than 1 properties']);
      return changeRequests.create(organizationId, given, ctx.identity.id, ctx.newId?.());
    }),

    listChangeRequests: listRoute(changeRequest, 'GET /organizations/{organizationId}/change-requests', changeRequestList, {
      summary: 'List the change requests of an organization, newest first',
      errors: [errors.notFound],
      allow: [ownOrganization],
    }).query(({ ctx, input }) => changeRequests.list(input.organizationId, askedBy(ctx, input))),

    approveChange: authenticatedRoute('POST /organizations/{organizationId}/change-requests/{changeRequestId}/approve', {
      summary: 'Approve a change request and apply it',
      failure: 'Failed to update organization change request',
      errors: [errors.notFound, errors.changeRequestNotFound, errors.changeRequestDecided, errors.nameTaken],
      allow: [admin],
    })
      .input(changeRequestInput)
      .output(ChangeRequestSchema)
      .mutation(({ ctx, input }) => changeRequests.decide(input, 'approved', ctx.identity.id)),

    rejectChange: authenticatedRoute('POST /organizations/{organizationId}/change-requests/{changeRequestId}/reject', {
      summary: 'Reject a change request',
      failure: 'Failed to update organization change request',
      errors: [errors.notFound, errors.changeRequestNotFound, errors.changeRequestDecided],
      allow: [admin],
    })
      .input(changeRequestInput)
      .output(ChangeRequestSchema)
      .mutation(({ ctx, input }) => changeRequests.decide(input, 'rejected', ctx.identity.id)),
  });
}
