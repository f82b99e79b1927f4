import { defineList, relatedKind, relatedOne } from '@tandem/lists';
import { defineListResource } from '@tandem/list-query';
import { HOST_FIELDS, TRACE, deletionFields } from '@tandem/storage';
import { z } from 'zod';
import { CERTIFICATE_TYPES, IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { GivenPrivateMetadata, MetadataPatch, metadataField, privateMetadataField } from '../shared/metadata.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { ownersKind, personKind } from '../people/people.schemas.js';
import { BULK_MAX, Email, Id, LINE_MAX, Line, Name, Text, Timestamp } from '../shared/schemas.js';
import { treeField } from '../shared/trees.js';
import { notesField } from '../shared/unit-notes.js';
import { Address, AddressPatch, Qualifications } from './organization-fields.js';
import { MAX_DEPTH } from './organizations.errors.js';
import { ORGANIZATION_ROLES, isOrganizationRole } from './roles.js';

const text = z.string().nullable();
const unsorted = { type: 'string', sort: false } as const;
const line = { optional: true, patch: Line.nullable(), shown: text, list: unsorted } as const;

/** Fields that answers never show, or show elsewhere. */
const internal = {
  members: { type: [{ identityId: String, role: String, joinedAt: Date, _id: false }], default: [] },
  ownerNames: { type: [String], default: [] },
  ...treeField,
  notes: notesField,
  ...deletionFields,
};

/** The answer has no members, because not every member may see them. */
export const organizationRecord = defineRecord('organizations', {
  fields: {
    name: field(Name.describe('The name of the organization.'), { list: 'string' }),
    description: field(Text.describe('What the organization does.'), { list: unsorted }),
    contact_email: field(Email.describe('The email address for enquiries.'), {
      shown: z.string(),
      list: { type: 'string', absent: '', sort: false },
    }),
    contact_phone: field(Line.describe('The telephone number for enquiries.'), line),
    branchName: field(Line.describe('The name of the branch.'), line),
    typeId: field(Line.describe('The kind of organization, in your own words.'), line),
    logo: field(GivenFileSchema.nullable().describe('The logo.'), { shown: FileSchema.nullable(), stored: false }),
    address: field(Address.describe('The postal address.'), {
      optional: true,
      patch: AddressPatch.nullable(),
      shown: Address.nullable(),
      stored: { type: Object, default: null },
    }),
    certifiedQualifications: field(Qualifications, { optional: true, shown: Qualifications }),
    metadata: metadataField,
    privateMetadata: privateMetadataField,
    /** Whether its members need a second factor for what their role allows (decisions F5). */
    mfaRequired: serverField(z.boolean(), { stored: { type: Boolean } }),
    /** Outcome of the latest change request; null before the first. */
    auditStatus: serverField(text, { stored: { type: String, default: null } }),
    /** The parent organization, which may be deleted by now; null or missing at the top. */
    parentId: serverField(text, { stored: { type: String, default: null }, list: unsorted }),
    /** Ancestor ids, from the top down to the parent. */
    ancestors: serverField(z.array(z.string())),
  },
  searched: ['name', 'description'],
  internal,
});
export const OrganizationSchema = organizationRecord.schema.meta({ id: 'Organization' });
export interface Organization extends z.infer<typeof OrganizationSchema> {}
/** Shown to its members, as its own read. */
export const organizationKind = relatedKind<Organization>('organization', OrganizationSchema, { isPrivate: true });

const shown = {
  row: OrganizationSchema,
  reads: { ancestors: ['parentId'] },
  relations: { parent: relatedOne(organizationKind, 'parentId'), owners: relatedOne(ownersKind, '_id') },
};
export const organizationList = defineList(organizationRecord.resource, {
  ...shown,
  equal: { name: Name, description: Text, contact_email: Email, contact_phone: Line },
});

/** The members of one organization: rows of a view with the identity's id. */
const memberResource = defineListResource({
  name: 'organizationMembers',
  fields: { identityId: { type: 'string', stored: '_id' }, role: 'string', joinedAt: 'date' },
  defaultOrder: 'joinedAt desc, identityId desc',
  softDelete: false,
});

export const MemberSchema = z.object({ identityId: z.string(), role: z.string(), joinedAt: Timestamp.nullable() });
export type Member = z.infer<typeof MemberSchema>;
export const memberList = defineList(memberResource, {
  row: MemberSchema,
  own: { organizationId: Id },
  relations: { person: relatedOne(personKind, '_id') },
});

/** A role, and the ancestor it is inherited from; null for the organization's own. */
export const HeldRoleSchema = z.object({ inheritedFrom: z.string().nullable(), role: z.string() });
export type HeldRole = z.infer<typeof HeldRoleSchema>;
export const IsMemberSchema = z.object({ isMemberOfOrganization: z.boolean() });

export const organizationInput = z.strictObject({ organizationId: Id });
export const logoUploadInput = z.strictObject({ organizationId: Id, ...uploadParameters(IMAGE_TYPES) });
export const certificateUploadInput = z.strictObject({ organizationId: Id, ...uploadParameters(CERTIFICATE_TYPES) });

export const createOrganizationInput = z.strictObject({
  organization: z
    .strictObject({ ...organizationRecord.given, privateMetadata: GivenPrivateMetadata })
    .describe('The organization.'),
  ownerId: Id.describe('Its first owner; only an admin may name another than themselves.').optional(),
  parentId: Id.nullable().describe('The organization above; null at the top.').optional(),
});
export type NewOrganization = z.infer<typeof createOrganizationInput>['organization'];

const { description, contact_email, contact_phone, branchName, metadata } = organizationRecord.patch;
/** Fields that an owner may change (decisions R7). */
export const organizationPatchInput = z.strictObject({
  organizationId: Id,
  description,
  contact_email,
  contact_phone,
  branchName,
  metadata,
  mfaRequired: z.boolean().describe('Whether its members need a second factor for what their role allows.').optional(),
});
/** An admin may change the others too. */
export const organizationAdminPatchInput = z.strictObject({
  organizationId: Id,
  ...organizationRecord.patch,
  privateMetadata: MetadataPatch.optional(),
  auditStatus: z.enum(['approved', 'rejected']).describe('The outcome of the latest change request.').optional(),
});
export type OrganizationPatch = Omit<z.infer<typeof organizationAdminPatchInput>, 'organizationId'>;

/** Null moves it to the top. Its subtree moves along. */
export const moveOrganizationInput = z.strictObject({
  organizationId: Id,
  parentId: Id.nullable().describe('The organization to move it below; null for the top.'),
});

export const descendantList = defineList(organizationRecord.resource, {
  ...shown,
  /** Depth 1 lists the children only. */
  own: {
    organizationId: Id,
    depth: z.number().int().min(1).max(MAX_DEPTH).describe('How many levels below it; 1 for its children only.').optional(),
  },
});

export const memberInput = z.strictObject({ organizationId: Id, identityId: Id });

/** The body is the list itself. An unknown role is no validation failure but a 422 (spec, "Status codes and messages"). */
export const upsertMembersInput = z.strictObject({
  organizationId: Id,
  members: z
    .array(z.strictObject({ identityId: Id, role: z.string().max(LINE_MAX).describe('The role: owner, admin or member.') }))
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
  )
  .meta({ description: 'Only memberships with one of these roles, separated by commas.', examples: ['owner,admin'] });

/** The organizations of one identity: rows of a view with its membership at `member`. */
const membershipResource = defineListResource({
  name: 'memberships',
  fields: {
    'member.role': 'string',
    'organization.id': { type: 'string', stored: '_id' },
    'organization.name': { type: 'string', stored: 'name' },
    'organization.branchName': { type: 'string', stored: 'branchName' },
    'organization.parentId': { type: 'string', stored: 'parentId' },
    'organization.typeId': { type: 'string', stored: 'typeId' },
    'organization.createdAt': { type: 'date', stored: 'createdAt' },
    'organization.updatedAt': { type: 'date', stored: 'updatedAt' },
  },
  hidden: [...Object.keys(internal), TRACE],
  defaultOrder: 'organization.createdAt desc, organization.id desc',
});

export const membershipList = defineList(membershipResource, {
  row: z.object({ member: HeldRoleSchema, organization: OrganizationSchema }),
  reads: { member: ['parentId'], organization: [...Object.keys(OrganizationSchema.shape), HOST_FIELDS] },
  own: {
    identityId: Id,
    roles: Roles.optional(),
    includeInherited: z.boolean().describe('Also organizations below those in which the identity has a role.').optional(),
  },
});
