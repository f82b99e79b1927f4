import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { DELETION_FIELDS, defineModel, deletionFields, type Deletable } from '@tandem/storage';
import { treeField, type TreeRecord } from '../shared/trees.js';
import { notesField, type NotedRecord } from '../shared/unit-notes.js';

/** The membership of one identity. A deleted identity keeps it, and has it back when restored. */
export interface MemberRecord {
  identityId: string;
  /** An organization role, unless a host wrote something else. */
  role: string;
  joinedAt: Date;
}

export interface OrganizationRecord extends Deletable, TreeRecord, NotedRecord {
  name: string;
  description: string;
  contact_email: string;
  contact_phone: string | null;
  branchName: string | null;
  typeId: string | null;
  /** Address lines by name; unknown ones are missing. */
  address: Record<string, string> | null;
  certifiedQualifications: { name: string; status: string; value: string }[];
  /** Outcome of the latest change request; null before the first. */
  auditStatus: string | null;
  /** The parent organization, which may be deleted by now; null or missing at the top. */
  parentId?: string | null;
  /** Stored in the record, so that one write can change them and check that an owner remains (decisions R7). */
  members: MemberRecord[];
  /**
   * One key per owner, made of owner and name. Every write of either updates them; a unique index on them enforces unique names.
   */
  ownerNames: string[];
}

/** Fields for internal use, or shown elsewhere. */
export const HIDDEN = ['members', 'ownerNames', 'treeVersion', 'notes', ...DELETION_FIELDS] as const;

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

/** The members of one organization: rows of a view with the identity's id. */
export const memberResource = defineListResource({
  name: 'organizationMembers',
  fields: { identityId: { type: 'string', stored: '_id' }, role: 'string', joinedAt: 'date' },
  defaultOrder: 'joinedAt desc, identityId desc',
  softDelete: false,
});

/** The organizations of one identity: rows of a view with its membership at `member`. */
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
    ...treeField,
    notes: notesField,
    ...deletionFields,
  },
  indexes: [
    {
      keys: { ownerNames: 1 },
      unique: true,
      // a record without owners, which a host may write, must not conflict with another
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

/** The `ownerNames` key of one owner. */
export function ownerNameOf(identityId: string, name: string): string {
  return `${identityId} ${name}`;
}

/** The members in a pipeline. A host may have left them out. */
export const MEMBERS = { $ifNull: ['$members', []] };

/** Recomputes `ownerNames`. The last stage of every update that changes names or members. */
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
