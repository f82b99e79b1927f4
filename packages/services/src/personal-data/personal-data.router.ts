import { admin, anyOf, authenticatedRoute, requestErrors, router, self } from '@tandem/core';
import { z } from 'zod';
import { requestFactsOf } from '../audit/request-facts.js';
import { freshProof, type Proofs } from '../authentication/proofs.js';
import { identityErrors } from '../identities/identities.errors.js';
import { identityInput } from '../identities/identities.schemas.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { Timestamp } from '../shared/schemas.js';
import type { ExportsService } from './exports.service.js';
import type { ErasuresService } from './erasures.service.js';

const ErasureSchema = z
  .object({ eraseAt: Timestamp.describe('When everything about the person is erased.') })
  .meta({ id: 'Erasure' });

const ExportSchema = z.object({ requestedAt: Timestamp }).meta({ id: 'Export' });

/** The routes of a person's data below `/auth` (decisions F7, F8). */
export function createPersonalDataRouter({
  erasures,
  personalExports,
  proofs,
}: {
  erasures: ErasuresService;
  personalExports: ExportsService;
  proofs: Pick<Proofs, 'requireFresh'>;
}) {
  /** Who may ask for a person's data, or its end. */
  const allow = [anyOf(admin, self('identityId')), freshProof(proofs)] as const;
  return router({
    requestExport: authenticatedRoute('POST /auth/{identityId}/export', {
      status: 202,
      summary: 'Make an archive of everything that names a person, of which a mail tells; once a day',
      failure: 'Failed to export account',
      errors: [identityErrors.notFound, identityErrors.serviceAccount, requestErrors.tooMany],
      allow,
    })
      .input(identityInput)
      .output(ExportSchema)
      .mutation(({ ctx, input }) => personalExports.request(input.identityId, requestFactsOf(ctx))),

    erase: authenticatedRoute('POST /auth/{identityId}/erase', {
      status: 202,
      summary: 'Deactivate an account at once, and erase everything about the person later',
      failure: 'Failed to erase account',
      errors: [identityErrors.notFound, identityErrors.serviceAccount, organizationErrors.noOwnerLeft],
      allow,
    })
      .input(identityInput)
      .output(ErasureSchema)
      .mutation(({ ctx, input }) =>
        erasures.request(input.identityId, ctx.identity.id === input.identityId, requestFactsOf(ctx)),
      ),

    cancelErasure: authenticatedRoute('DELETE /auth/{identityId}/erase', {
      status: 204,
      summary: 'Take an erasure back that has not begun, and activate the account',
      failure: 'Failed to cancel erasure',
      errors: [identityErrors.notErased],
      allow: [admin],
    })
      .input(identityInput)
      .mutation(({ ctx, input }) => erasures.cancel(input.identityId, requestFactsOf(ctx))),
  });
}
