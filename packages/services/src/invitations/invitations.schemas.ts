import { defineList, relatedOne, type ListQuery } from '@tandem/lists';
import { z } from 'zod';
import { TokenText } from '../authentication/authentication.schemas.js';
import { organizationKind } from '../organizations/organizations.schemas.js';
import { ORGANIZATION_ROLES } from '../organizations/roles.js';
import { personKind } from '../people/people.schemas.js';
import { Email, Id, Timestamp } from '../shared/schemas.js';
import { invitationResource } from './invitation.model.js';

const INVITATION_STATUSES = ['pending', 'accepted', 'expired', 'withdrawn'] as const;
export type InvitationStatus = (typeof INVITATION_STATUSES)[number];

export const InvitationSchema = z
  .object({
    id: Id,
    email: z.string(),
    organizationId: Id.nullable(),
    role: z.enum(ORGANIZATION_ROLES).nullable(),
    status: z.enum(INVITATION_STATUSES),
    fromIdentityId: z.string(),
    expiresAt: Timestamp,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Invitation' });
export type Invitation = z.infer<typeof InvitationSchema>;

export const createInvitationInput = z
  .strictObject({
    email: Email.describe('Whom to invite.'),
    organizationId: Id.describe('The organization to join.').optional(),
    role: z.enum(ORGANIZATION_ROLES).describe('The role there.').optional(),
  })
  .superRefine(({ organizationId, role }, check) => {
    if (role !== undefined && organizationId === undefined)
      check.addIssue({ code: 'custom', message: "must have required property 'organizationId'" });
  });
export type NewInvitation = z.infer<typeof createInvitationInput>;

export const invitationInput = z.strictObject({ invitationId: Id });
export const invitationList = defineList(invitationResource, {
  row: InvitationSchema,
  reads: { status: ['expiresAt'] },
  relations: { organization: relatedOne(organizationKind, 'organizationId'), inviter: relatedOne(personKind, 'fromIdentityId') },
  own: { status: z.enum(INVITATION_STATUSES).describe('Only invitations in this state.').optional() },
  equal: { email: Email, organizationId: Id, fromIdentityId: Id, role: z.enum(ORGANIZATION_ROLES) },
});
export interface InvitationQuery extends ListQuery {
  status?: InvitationStatus | undefined;
}

export const acceptInvitationInput = z.strictObject({ token: TokenText });
