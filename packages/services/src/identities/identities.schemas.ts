import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { MetadataPatch, MetadataSchema, PrivateMetadataSchema } from '../shared/metadata.js';
import { Email, Id, Timestamp } from '../shared/schemas.js';
import { identityResource } from './identity.model.js';

/** An identity in answers. Fields outside this schema never leave the server (decisions A8). */
export const IdentitySchema = z
  .object({
    id: Id,
    email: z.string().describe('Empty for a service account, which never signs in.'),
    name: z.string().describe('Of a service account.').optional(),
    serviceAccountOf: Id.describe('The organization that a service account belongs to.').optional(),
    emailVerified: z.boolean(),
    typeId: z.string(),
    locked: z.boolean(),
    deactivatedAt: Timestamp.nullable(),
    metadata: MetadataSchema,
    privateMetadata: PrivateMetadataSchema,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Identity' });
export type Identity = z.infer<typeof IdentitySchema>;

export const identityList = defineList(identityResource, {
  row: IdentitySchema,
  // a host may have given people a field of this name
  reads: { name: ['name', 'serviceAccountOf'] },
});

export const identityInput = z.strictObject({ identityId: Id });

/** What admins change, since nobody gives it at creation. */
const patch = { metadata: MetadataPatch.optional() };
export const identityRecord = { given: {}, patch, schema: IdentitySchema, resource: identityResource };

/** The fields that an admin may change. The type must be a configured one. */
export function identityPatchInput(typeIds: readonly string[]) {
  return z.strictObject({
    identityId: Id,
    email: Email.describe('Another email address. Password, sessions, API keys, providers and factors stay.').optional(),
    emailVerified: z
      .boolean()
      .describe('Whether the email address counts as verified; if so, providers and passkeys stay at a reset.')
      .optional(),
    typeId: z.enum(typeIds).describe('The type, which decides what the identity may do.').optional(),
    ...patch,
    privateMetadata: MetadataPatch.optional(),
  });
}
export type IdentityPatch = Omit<z.infer<ReturnType<typeof identityPatchInput>>, 'identityId'>;
