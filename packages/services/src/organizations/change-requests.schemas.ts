import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { FileSchema, GivenFileSchema } from '../files/files.schemas.js';
import { Id, Line, Name, Timestamp } from '../shared/schemas.js';
import { changeRequestResource } from './change-request.model.js';
import { Qualifications } from './organization-fields.js';

const text = z.string().nullable();

/** A change that an owner asks the admin for, and its outcome. */
export const ChangeRequestSchema = z
  .object({
    id: Id,
    organizationId: Id,
    identityId: z.string(),
    status: z.enum(['pending', 'approved', 'rejected']),
    name: text,
    branchName: text,
    typeId: text,
    addressLine1: text,
    addressLine2: text,
    addressLine3: text,
    postalCode: text,
    certifiedQualifications: Qualifications.nullable(),
    certificateImage: FileSchema.nullable(),
    /** Download address of the certificate; null without one. */
    certificateImageUrl: text,
    decidedBy: text,
    decidedAt: Timestamp.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'OrganizationChangeRequest' });
export type ChangeRequest = z.infer<typeof ChangeRequestSchema>;

export const changeRequestList = defineList(changeRequestResource, { row: ChangeRequestSchema, own: { organizationId: Id } });

export const createChangeRequestInput = z.strictObject({
  organizationId: Id,
  name: Name.optional(),
  branchName: Line.optional(),
  typeId: Line.optional(),
  addressLine1: Line.optional(),
  addressLine2: Line.optional(),
  addressLine3: Line.optional(),
  postalCode: Line.optional(),
  certifiedQualifications: Qualifications.optional(),
  certificateImage: GivenFileSchema.optional(),
});
export type NewChangeRequest = Omit<z.infer<typeof createChangeRequestInput>, 'organizationId'>;

export const changeRequestInput = z.strictObject({ organizationId: Id, changeRequestId: Id });
