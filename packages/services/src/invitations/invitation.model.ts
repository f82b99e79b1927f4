import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { TRACE, defineModel, type Live } from '@tandem/storage';
import type { OrganizationRole } from '../organizations/roles.js';
import { searchedFields } from '../shared/record.js';

export interface InvitationRecord extends Live {
  /** Trimmed and lower-cased. */
  email: string;
  /** The organization and role that it grants; both null for an account alone. */
  organizationId: string | null;
  role: OrganizationRole | null;
  /**
   * A pending invitation expires at `expiresAt`; it is marked expired only when a new one replaces it. A withdrawn one was made
   * by somebody who may no longer invite, or was for somebody who has been removed or given another role since.
   */
  status: 'pending' | 'accepted' | 'expired' | 'withdrawn';
  fromIdentityId: string;
  expiresAt: Date;
  acceptedBy: string | null;
  /** The attempt that accepted it: of two by the same identity one succeeds, and the other undoes nothing. */
  acceptanceId: string | null;
  acceptedAt: Date | null;
  /** When the person was removed or given another role there, since it was accepted or while it is being. */
  revokedAt: Date | null;
  /** Set until the mail is queued. Stored with the invitation, so that no crash loses the mail. */
  mailSince: Date | null;
}

/** Filter for pending invitations. */
export function pendingAt(now: Date) {
  return { status: 'pending', expiresAt: { $gt: now } } as const;
}

/** Has no status field, because a status can change without a write; the list has a parameter for it. */
export const invitationResource = defineListResource({
  name: 'invitations',
  fields: {
    email: 'string',
    organizationId: { type: 'string', sort: false },
    role: { type: 'string', sort: false },
    fromIdentityId: { type: 'string', sort: false },
    expiresAt: 'date',
    createdAt: 'date',
  },
  hidden: ['acceptedBy', 'acceptanceId', 'acceptedAt', 'revokedAt', 'mailSince', TRACE],
  ...searchedFields(['email']),
  defaultOrder: 'createdAt desc, id desc',
});

const GONE = { email: '' };
const INVITED = ['organizationId', 'role', 'status', 'createdAt', 'acceptedAt'] as const;

export const invitationModel = defineModel<InvitationRecord>('invitations', {
  traced: {
    kind: 'invitation',
    hidden: ['acceptanceId', 'revokedAt', 'mailSince'],
    untold: ['revokedAt', 'mailSince'],
    organization: 'organizationId',
  },
  searched: invitationResource.searched,
  people: {
    email: { erased: 'remove', by: 'email', cleared: GONE, exported: INVITED },
    fromIdentityId: { erased: 'remove', cleared: GONE, exported: INVITED },
    acceptedBy: { erased: 'remove', cleared: GONE, exported: INVITED },
  },
  goesWith: [{ with: 'organizations', by: 'organizationId' }],
  fields: {
    email: { type: String, required: true },
    organizationId: { type: String, default: null },
    role: { type: String, default: null },
    status: { type: String, required: true },
    fromIdentityId: { type: String, required: true },
    expiresAt: { type: Date, required: true },
    acceptedBy: { type: String, default: null },
    acceptanceId: { type: String, default: null },
    acceptedAt: { type: Date, default: null },
    revokedAt: { type: Date, default: null },
    mailSince: { type: Date, default: null },
  },
  indexes: [
    {
      keys: { email: 1, organizationId: 1 },
      unique: true,
      where: { status: 'pending' },
      serves: 'one pending invitation of an address to an organization',
    },
    {
      keys: { fromIdentityId: 1, expiresAt: 1 },
      where: { status: 'pending' },
      serves: 'withdrawing what somebody has invited to who may no longer',
    },
    { keys: { organizationId: 1 }, deletedToo: true, serves: 'what goes for good with an organization' },
    ...listIndexes(invitationResource, { by: ['organizationId', 'email'] }),
    {
      keys: { mailSince: 1 },
      where: { mailSince: { $gt: new Date(0) } },
      serves: 'mails that a process left behind when it died',
    },
  ],
});
