import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { FileSchema, GivenFileSchema } from '../files/files.schemas.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Line, Name, Timestamp } from '../shared/schemas.js';
import { personKind } from '../people/people.schemas.js';
import { organizationKind } from './organizations.schemas.js';
import { ADDRESS_LINES, Qualifications } from './organization-fields.js';

const text = z.string().nullable();

const asked = { optional: true, shown: text, stored: { type: String, default: null } } as const;
/** The changes that a request asks for; null fields stay unchanged. */
const requested = {
  name: field(Name.describe('The new name.'), { ...asked, list: 'string' }),
  branchName: field(Line.describe('The new name of the branch.'), asked),
  typeId: field(Line.describe('The new kind of organization.'), asked),
  addressLine1: field(ADDRESS_LINES.addressLine1, asked),
  addressLine2: field(ADDRESS_LINES.addressLine2, asked),
  addressLine3: field(ADDRESS_LINES.addressLine3, asked),
  postalCode: field(ADDRESS_LINES.postalCode, asked),
  certifiedQualifications: field(Qualifications, {
    optional: true,
    shown: Qualifications.nullable(),
    stored: { type: [Object], default: null },
  }),
};

/** A change that an owner asks the admin for, and its outcome. */
export const changeRequestRecord = defineRecord('organizationChangeRequests', {
  fields: {
    organizationId: serverField(Id, { stored: { type: String, required: true } }),
    identityId: serverField(z.string(), { stored: { type: String, required: true }, list: 'string' }),
    status: serverField(z.enum(['pending', 'approved', 'rejected']), {
      stored: { type: String, default: 'pending' },
      list: 'string',
    }),
    ...requested,
    certificateImage: field(GivenFileSchema.describe('A certificate that proves the change.'), {
      optional: true,
      shown: FileSchema.nullable(),
      stored: false,
    }),
    /** Download address of the certificate; null without one. */
    certificateImageUrl: serverField(text),
    decidedBy: serverField(text, { stored: { type: String, default: null } }),
    decidedAt: serverField(Timestamp.nullable(), { stored: { type: Date, default: null }, list: 'date' }),
  },
  internal: { decisionId: { type: String, default: null } },
});
export const ChangeRequestSchema = changeRequestRecord.schema.meta({ id: 'OrganizationChangeRequest' });
export type RequestedChanges = Pick<ChangeRequest, keyof typeof requested>;
export type ChangeRequest = z.infer<typeof ChangeRequestSchema>;

export const changeRequestList = defineList(changeRequestRecord.resource, {
  row: ChangeRequestSchema,
  relations: { organization: relatedOne(organizationKind, 'organizationId'), requester: relatedOne(personKind, 'identityId') },
  own: { organizationId: Id },
});

export const createChangeRequestInput = z.strictObject({ organizationId: Id, ...changeRequestRecord.given });
export type NewChangeRequest = Omit<z.infer<typeof createChangeRequestInput>, 'organizationId'>;

export const changeRequestInput = z.strictObject({ organizationId: Id, changeRequestId: Id });
