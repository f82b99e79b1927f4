import { admin, anyOf, notGuest, organizationRole, router } from '@tandem/core';
import type { Attachments } from '../files/attachments.js';
import { uploadRoute } from '../files/upload-route.js';
import { organizationErrors as errors } from './organizations.errors.js';
import { certificateUploadInput, logoUploadInput } from './organizations.schemas.js';
import type { OrganizationsService } from './organizations.service.js';

interface OrganizationFilesRouterOptions {
  organizations: OrganizationsService;
  organizationFiles: { logos: Attachments; certificates: Attachments };
}

/** Upload addresses for an organization's files (decisions, section 6). */
export function createOrganizationFilesRouter({ organizations, organizationFiles }: OrganizationFilesRouterOptions) {
  const { logos, certificates } = organizationFiles;
  const ownerOrAdmin = anyOf(admin, organizationRole('organizationId', ['owner'], organizations.roleOf));

  /** @throws errors.notFound; the rules let an admin pass even for a missing organization */
  async function existing(organizationId: string): Promise<void> {
    if ((await organizations.nameOf(organizationId)) === undefined) throw errors.notFound();
  }

  return router({
    logoUploadUrl: uploadRoute('GET /organizations/{organizationId}/logo-upload-url', logoUploadInput, {
      what: 'a logo',
      notFound: errors.notFound,
      allow: [notGuest, ownerOrAdmin],
    }).query(async ({ ctx, input }) => {
      await existing(input.organizationId);
      return logos.issue(input, ctx.identity.id);
    }),

    certificateUploadUrl: uploadRoute('GET /organizations/{organizationId}/certificate-upload-url', certificateUploadInput, {
      what: 'a certificate',
      notFound: errors.notFound,
      allow: [notGuest, ownerOrAdmin],
    }).query(async ({ ctx, input }) => {
      await existing(input.organizationId);
      return certificates.issue(input, ctx.identity.id);
    }),
  });
}
