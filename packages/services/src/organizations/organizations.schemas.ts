import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { CERTIFICATE_TYPES, IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { Address, AddressPatch, Qualifications } from './organization-fields.js';
import { BULK_MAX, Email, Id, LINE_MAX, Line, Name, Text, Timestamp } from '../shared/schemas.js';
import { memberResource, membershipResource, organizationResource } from './organization.model.js';
import { MAX_DEPTH } from './organizations.errors.js';
import { ORGANIZATION_ROLES, isOrganizationRole } from './roles.js';

/** An organization in answers, without its members, because not every member may see them. */
export const OrganizationSchema = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    contact_email: z.string(),
    contact_phone: z.string().nullable(),
    branchName: z.string().nullable(),
    typeId: z.string().nullable(),
    logo: FileSchema.nullable(),
    address: Address.nullable(),
    certifiedQualifications: Qualifications,
    auditStatus: z.string().nullable(),
    /** The parent organization, which may be deleted by now. */
    parentId: z.string().nullable(),
    /** Ancestor ids, from the top down to the parent. */
    ancestors: z.array(z.string()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Organization' });
export type Organization = z.infer<typeof OrganizationSchema>;
export const organizationList = defineList(organizationResource, {
  row: OrganizationSchema,
  equal: { name: Name, description: Text, contact_email: Email, contact_phone: Line },
});

export const MemberSchema = z.object({ identityId: z.string(), role: z.string(), joinedAt: Timestamp.nullable() });
export type Member = z.infer<typeof MemberSchema>;
export const memberList = defineList(memberResource, { row: MemberSchema, own: { organizationId: Id } });

/** A role, and the ancestor it is inherited from; null for the organization's own. */
export const HeldRoleSchema = z.object({ inheritedFrom: z.string().nullable(), role: z.string() });
export type HeldRole = z.infer<typeof HeldRoleSchema>;
export const IsMemberSchema = z.object({ isMemberOfOrganization: z.boolean() });

export const organizationInput = z.strictObject({ organizationId: Id });
export const logoUploadInput = z.strictObject({ organizationId: Id, ...uploadParameters(IMAGE_TYPES) });
export const certificateUploadInput = z.strictObject({ organizationId: Id, ...uploadParameters(CERTIFICATE_TYPES) });

export const createOrganizationInput = z.strictObject({
  organization: z.strictObject({
    name: Name,
    description: Text,
    contact_email: Email,
    contact_phone: Line.optional(),
    branchName: Line.optional(),
    typeId: Line.optional(),
    logo: GivenFileSchema.nullable().optional(),
    address: Address.optional(),
    certifiedQualifications: Qualifications.optional(),
  }),
  ownerId: Id.optional(),
  parentId: Id.nullable().optional(),
});
export type NewOrganization = z.infer<typeof createOrganizationInput>['organization'];

/** Fields that an owner may change; null clears an optional field (decisions R3, R7). */
const ownersFields = {
  description: Text.optional(),
  contact_email: Email.optional(),
  contact_phone: Line.nullable().optional(),
  branchName: Line.nullable().optional(),
};
export const organizationPatchInput = z.strictObject({ organizationId: Id, ...ownersFields });
/** An admin may change these fields too. */
export const organizationAdminPatchInput = z.strictObject({
  organizationId: Id,
  ...ownersFields,
  name: Name.optional(),
  typeId: Line.nullable().optional(),
  logo: GivenFileSchema.nullable().optional(),
  address: AddressPatch.nullable().optional(),
  certifiedQualifications: Qualifications.optional(),
  auditStatus: z.enum(['approved', 'rejected']).optional(),
});
export type OrganizationPatch = Omit<z.infer<typeof organizationAdminPatchInput>, 'organizationId'>;

/** Null moves it to the top. Its subtree moves along. */
export const moveOrganizationInput = z.strictObject({ organizationId: Id, parentId: Id.nullable() });

export const descendantList = defineList(organizationResource, {
  row: OrganizationSchema,
  /** Depth 1 lists the children only. */
  own: { organizationId: Id, depth: z.number().int().min(1).max(MAX_DEPTH).optional() },
});

export const memberInput = z.strictObject({ organizationId: Id, identityId: Id });

/** The body is the list itself. An unknown role is no validation failure but a 422 (spec, "Status codes and messages"). */
export const upsertMembersInput = z.strictObject({
  organizationId: Id,
  members: z
    .array(z.strictObject({ identityId: Id, role: z.string().max(LINE_MAX) }))
    .min(1)
    .max(BULK_MAX)
    .superRefine((members, check) => {
      const seen = new Set<string>();
      for (const [at, { identityId }] of members.entries()) {
        if (seen.has(identityId)) check.addIssue({ code: 'custom', path: [at, 'identityId'], message: 'must NOT be repeated' });
        seen.add(identityId);
      }
    }),
});
export type GivenMember = z.infer<typeof upsertMembersInput>['members'][number];

/** Comma-separated roles. */
const Roles = z
  .string()
  .max(LINE_MAX)
  .refine(
    (text) => text.split(',').every(isOrganizationRole),
    `must be a comma-separated list of ${ORGANIZATION_ROLES.join(', ')}`,
  );

export const membershipList = defineList(membershipResource, {
  row: z.object({ member: HeldRoleSchema, organization: OrganizationSchema }),
  own: { identityId: Id, roles: Roles.optional(), includeInherited: z.boolean().optional() },
});
