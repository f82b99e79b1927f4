import { admin, anyOf, authenticatedRoute, notGuest, organizationRole, router, validationError } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { ATTACH_ERRORS } from '../files/files.errors.js';
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

/** The change request routes of the spec ("Other services"), part of the organizations router. */
export function createChangeRequestsRouter({ changeRequests, roleOf }: ChangeRequestsRouterOptions) {
  const ownOrganization = anyOf(admin, organizationRole('organizationId', ['owner'], roleOf));
  return router({
    requestChange: authenticatedRoute('POST /organizations/{organizationId}/change-requests', {
      status: 201,
      summary: 'Ask the admin for a change of an organization',
      failure: 'Failed to create organization change request',
      errors: [errors.notFound, errors.nameTaken, ...ATTACH_ERRORS],
      allow: [notGuest, ownOrganization],
    })
      .input(createChangeRequestInput)
      .output(ChangeRequestSchema)
      .mutation(({ ctx, input: { organizationId, ...given } }) => {
        if (Object.keys(given).length === 0) throw validationError(['request body must NOT have fewer than 1 properties']);
        return changeRequests.create(organizationId, given, ctx.identity.id);
      }),

    listChangeRequests: authenticatedRoute('GET /organizations/{organizationId}/change-requests', {
      summary: 'List the change requests of an organization, newest first',
      failure: 'Failed to find organization change requests',
      errors: [errors.notFound, listErrors.invalidNextToken],
      allow: [ownOrganization],
    })
      .input(changeRequestList.input)
      .output(changeRequestList.output)
      .query(({ ctx, input }) => changeRequests.list(input.organizationId, askedBy(ctx, input))),

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
