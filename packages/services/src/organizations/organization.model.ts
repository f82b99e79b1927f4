import { listIndexes } from '@tandem/lists';
import { defineModel, isDuplicateKey, isStoreUnavailable, type Deletable } from '@tandem/storage';
import type { Metadata } from '../shared/metadata.js';
import type { StoredFields } from '../shared/record.js';
import type { TreeRecord } from '../shared/trees.js';
import type { NotedRecord } from '../shared/unit-notes.js';
import { organizationRecord } from './organizations.schemas.js';

/** The membership of one identity. A deleted identity keeps it, and has it back when restored. */
export interface MemberRecord {
  identityId: string;
  /** An organization role, unless a host wrote something else. */
  role: string;
  joinedAt: Date;
}

export interface OrganizationRecord extends Deletable, TreeRecord, NotedRecord, StoredFields<typeof organizationRecord> {
  /** Address lines by name; unknown ones are missing. */
  address?: Record<string, string> | null;
  metadata?: Metadata;
  privateMetadata?: Metadata;
  auditStatus?: string | null;
  mfaRequired?: boolean;
  parentId?: string | null;
  /** Stored in the record, so that one write can change them and check that an owner remains (decisions R7). */
  members: MemberRecord[];
  /**
   * One key per owner, made of owner and name. Every write of either updates them; a unique index on them enforces unique names.
   */
  ownerNames: string[];
}

/** Fields that a pipeline removes from what it shows. */
export const HIDDEN = organizationRecord.resource.hidden;

export const organizationModel = defineModel<OrganizationRecord>('organizations', {
  traced: {
    kind: 'organization',
    hidden: ['members', 'ownerNames'],
    untold: ['ownerNames'],
    parts: { kind: 'member', field: 'members', by: 'identityId' },
    organization: '_id',
  },
  people: {
    // see `ownerships.ts`: another owner follows
    'members.identityId': { erased: 'keep', exported: ['name'] },
    // where it is the person's own
    contact_email: { erased: 'keep', by: 'email', cleared: { contact_email: '' }, exported: false },
    ownerNames: { erased: 'own', exported: false },
  },
  files: ['organization-logo'],
  fields: organizationRecord.stored,
  searched: organizationRecord.resource.searched,
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
      keys: { 'members.identityId': 1 },
      where: { deletedAt: { $gt: new Date(0) } },
      deletedToo: true,
      serves: 'the erasure of an owner, whose deleted organizations are passed on too',
    },
    {
      keys: { parentId: 1, deletedAt: 1, _id: 1 },
      deletedToo: true,
      serves: 'which organizations are part of which, and how many, read from the index alone',
    },
    ...listIndexes(organizationRecord.resource),
  ],
});

/** The `ownerNames` key of one owner. */
export function ownerNameOf(identityId: string, name: string): string {
  return `${identityId} ${name}`;
}

/** Whether a write was refused because an owner has an organization of this name. An id that is taken is an earlier attempt's. */
export function refusesName(error: unknown): boolean {
  const refused = isDuplicateKey(error);
  return refused !== false && refused.fields.includes('ownerNames') && !isStoreUnavailable(error);
}

/** The members in a pipeline. A host may have left them out. */
export const MEMBERS = { $ifNull: ['$members', []] };

/** The stages that follow a change of these fields. */
export const afterChange = ({ name }: { name?: unknown }): object[] => (name === undefined ? [] : [SET_OWNER_NAMES]);

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
