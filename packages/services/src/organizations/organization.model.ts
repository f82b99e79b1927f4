import { defineModel, type Live } from '@tandem/storage';

/** One identity's membership. A deleted identity keeps its own, and has it again when it is restored. */
export interface MemberRecord {
  identityId: string;
  /** One of the organization roles, unless a host wrote another. */
  role: string;
  joinedAt: Date;
}

export interface OrganizationRecord extends Live {
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
  /** In the record itself, so that one write changes them and sees that an owner remains (decisions R7). */
  members: MemberRecord[];
  /** One key for each owner, of owner and name, made anew by each write of either: a unique index over them keeps names apart. */
  ownerNames: string[];
}

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
    { keys: { createdAt: -1, _id: -1 }, serves: "the admin's list, newest first, and its total" },
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
