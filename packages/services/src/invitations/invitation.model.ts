import { defineListResource } from '@tandem/list-query';
import { defineModel, type Live } from '@tandem/storage';
import type { OrganizationRole } from '../organizations/roles.js';
import { listIndexes } from '../shared/list-indexes.js';

export interface InvitationRecord extends Live {
  /** Trimmed and lower-cased. */
  email: string;
  /** Where it leads, and as what; both null for an account alone. */
  organizationId: string | null;
  role: OrganizationRole | null;
  /**
   * A pending one has expired from `expiresAt` on; it is marked so only when another takes its place. Withdrawn is one whose maker may no
   * longer make it.
   */
  status: 'pending' | 'accepted' | 'expired' | 'withdrawn';
  fromIdentityId: string;
  expiresAt: Date;
  acceptedBy: string | null;
  /** The attempt that has it: of two of one identity, one wins and the other takes nothing back. */
  acceptanceId: string | null;
  acceptedAt: Date | null;
  /** Since when its mail has not been queued; null once it is. Stored with the invitation, so that no crash loses the mail. */
  mailSince: Date | null;
}

/** Not by its status, which time changes and no write: a parameter of its own asks for that. */
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
  hidden: ['acceptedBy', 'acceptanceId', 'acceptedAt', 'mailSince'],
  defaultOrder: 'createdAt desc, id desc',
});

export const invitationModel = defineModel<InvitationRecord>('invitations', {
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
      keys: { fromIdentityId: 1 },
      where: { status: 'pending' },
      serves: 'withdrawing what somebody has invited to who may no longer',
    },
    ...listIndexes(invitationResource, { by: ['organizationId', 'email'] }),
    {
      keys: { mailSince: 1 },
      where: { mailSince: { $gt: new Date(0) } },
      serves: 'mails that a process left behind when it died',
    },
  ],
});
