import { defineListResource } from '@tandem/list-query';
import { defineModel } from '@tandem/storage';
import { BULK_HIDDEN, bulkFields, type BulkRecord } from '../shared/bulk-writes.js';
import { listIndexes } from '../shared/list-indexes.js';
import { movingField, type TreeRecord } from '../shared/tree-moves.js';
import { notesField, type NotedRecord } from '../shared/unit-notes.js';

/** One identity's membership. A deleted identity keeps its own, and has it again when it is restored. */
export interface MemberRecord {
  identityId: string;
  /** One of the organization roles, unless a host wrote another. */
  role: string;
  joinedAt: Date;
}

export interface OrganizationRecord extends BulkRecord, TreeRecord, NotedRecord {
  name: string;
  description: string;
  contact_email: string;
  contact_phone: string | null;
  branchName: string | null;
  typeId: string | null;
  /** Lines by their names; those that are not known are missing. */
  address: Record<string, string> | null;
  certifiedQualifications: { name: string; status: string; value: string }[];
  /** What became of the last change request; null before the first. */
  auditStatus: string | null;
  /** The organization that it is part of, which may have been deleted since; null, or missing, at the top. */
  parentId?: string | null;
  /** In the record itself, so that one write changes them and sees that an owner remains (decisions R7). */
  members: MemberRecord[];
  /** One key for each owner, of owner and name, made anew by each write of either: a unique index over them keeps names apart. */
  ownerNames: string[];
}

/** What is the store's own, or shown elsewhere. */
export const HIDDEN = ['members', 'ownerNames', 'moving', 'notes', ...BULK_HIDDEN] as const;

export const organizationResource = defineListResource({
  name: 'organizations',
  fields: {
    name: 'string',
    description: { type: 'string', sort: false },
    contact_email: { type: 'string', absent: '', sort: false },
    contact_phone: { type: 'string', sort: false },
    branchName: { type: 'string', sort: false },
    parentId: { type: 'string', sort: false },
    typeId: { type: 'string', sort: false },
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: HIDDEN,
  defaultOrder: 'createdAt desc, id desc',
});

/** The members of one organization: rows of a view, whose ids are those of their identities. */
export const memberResource = defineListResource({
  name: 'organizationMembers',
  fields: { identityId: { type: 'string', stored: '_id' }, role: 'string', joinedAt: 'date' },
  defaultOrder: 'joinedAt desc, identityId desc',
  softDelete: false,
});

/** The organizations of one identity: rows of a view, which has the identity's membership at `member`. */
export const membershipResource = defineListResource({
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
  hidden: HIDDEN,
  defaultOrder: 'organization.createdAt desc, organization.id desc',
});

const memberFields = { identityId: String, role: String, joinedAt: Date };

export const organizationModel = defineModel<OrganizationRecord>('organizations', {
  fields: {
    name: { type: String, required: true },
    description: { type: String, default: '' },
    contact_email: { type: String, required: true },
    contact_phone: { type: String, default: null },
    branchName: { type: String, default: null },
    typeId: { type: String, default: null },
    address: { type: Object, default: null },
    certifiedQualifications: { type: [{ _id: false, name: String, status: String, value: String }], default: [] },
    auditStatus: { type: String, default: null },
    members: { type: [{ ...memberFields, _id: false }], default: [] },
    ownerNames: { type: [String], default: [] },
    parentId: { type: String, default: null },
    moving: movingField,
    notes: notesField,
    ...bulkFields,
  },
  indexes: [
    {
      keys: { ownerNames: 1 },
      unique: true,
      // a record without owners, as a host may write it, is in nobody's way
      where: { ownerNames: { $type: 'string' } },
      serves: 'names: one live organization of a name for each owner',
    },
    { keys: { 'members.identityId': 1, createdAt: -1, _id: -1 }, serves: 'the organizations of an identity, newest first' },
    {
      keys: { parentId: 1, deletedAt: 1, _id: 1 },
      deletedToo: true,
      serves: 'which organizations are part of which, and how many, read from the index alone',
    },
    ...listIndexes(organizationResource),
  ],
});

/** The value of `ownerNames` for one owner. */
export function ownerNameOf(identityId: string, name: string): string {
  return `${identityId} ${name}`;
}

/** The members in an update or aggregation; a host may have left them out. */
export const MEMBERS = { $ifNull: ['$members', []] };

/** The last stage of every update that changes names or members: `ownerNames` as they are then. */
export const SET_OWNER_NAMES = {
  $set: {
    ownerNames: {
      $map: {
        input: { $filter: { input: MEMBERS, as: 'member', cond: { $eq: ['$$member.role', 'owner'] } } },
        as: 'owner',
        in: { $concat: ['$$owner.identityId', ' ', '$name'] },
      },
    },
  },
};
