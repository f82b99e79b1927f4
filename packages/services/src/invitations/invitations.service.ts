import { ruleErrors } from '@tandem/core';
import type { ListAnswer, Lists, ReadQuery } from '@tandem/lists';
import { isDuplicateKey, newId, present, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { rolesAbove } from '../organizations/roles.js';
import type { Actor } from '../shared/actor.js';
import { madeIn } from '../shared/made-records.js';
import { invitationModel, pendingAt, type InvitationRecord } from './invitation.model.js';
import type { InvitationLimits } from './invitation-limits.js';
import { invitationErrors as errors } from './invitations.errors.js';
import {
  invitationList,
  type Invitation,
  type InvitationQuery,
  type InvitationStatus,
  type NewInvitation,
} from './invitations.schemas.js';

export type InvitationsService = ReturnType<typeof createInvitationsService>;

interface InvitationsOptions {
  storage: Storage;
  lists: Lists;
  audit: AuditService;
  organizations: Pick<OrganizationsService, 'roleOf' | 'nameOf'>;
  /** Lifetime of a new invitation, in milliseconds. */
  lifetime: number;
  /** Reviews the inviter, and queues the invitation's mail. Must not throw. */
  relay(invitationId: string): Promise<void>;
  /** Voids the tokens of invitations. */
  withdrawTokens(invitationIds: readonly string[]): Promise<void>;
  limits: InvitationLimits;
}

/**
 * Invitations to create an account, to join an organization, or both (decisions A8). Ids are UUID strings; nothing here depends
 * on HTTP.
 */
export function createInvitationsService(options: InvitationsOptions) {
  const { storage, lists, audit, organizations, lifetime, relay, withdrawTokens, limits } = options;
  const Invitations = storage.model(invitationModel);

  /** Shows a pending invitation as expired once its time is over. */
  function show(record: InvitationRecord): Invitation {
    const { acceptedBy, acceptanceId, acceptedAt, mailSince, ...shown } = present(record);
    const isOver = record.status === 'pending' && record.expiresAt <= storage.clock.now();
    return { ...shown, status: isOver ? 'expired' : record.status };
  }

  lists.tell('invitation', invitationList, { show });

  function ofStatus(status: InvitationStatus): object {
    const now = storage.clock.now();
    if (status === 'pending') return pendingAt(now);
    if (status !== 'expired') return { status };
    return { $or: [{ status }, { status: 'pending', expiresAt: { $lte: now } }] };
  }

  /**
   * @throws organizationErrors.notFound; ruleErrors.notAdmin for a role that outranks the inviter's, like the rules (decisions
   * A17)
   */
  async function checkOrganization({ organizationId, role = 'member' }: NewInvitation, by: Actor): Promise<void> {
    if (organizationId === undefined) return;
    if (by.isAdmin) {
      if ((await organizations.nameOf(organizationId)) === undefined) throw organizationErrors.notFound();
      return;
    }
    const own = await organizations.roleOf(organizationId, by.identityId);
    if (own === undefined || rolesAbove(own).includes(role)) throw ruleErrors.notAdmin();
  }

  /** Queues the mail of a new invitation. @throws ruleErrors.notAdmin when its inviter may no longer invite */
  async function relayTo(_id: string): Promise<void> {
    await relay(_id);
    if (await Invitations.exists({ _id, status: 'withdrawn' })) throw ruleErrors.notAdmin();
  }

  return {
    /**
     * Invites an address. The answer does not reveal whether it has an account. The mail is sent later.
     * @throws errors.alreadyPending when the address is already invited there; organizationErrors.notFound; ruleErrors.notAdmin;
     * requestErrors.tooMany
     */
    async create(given: NewInvitation, by: Actor, facts: RequestFacts, id = newId(storage.clock)): Promise<Invitation> {
      await checkOrganization(given, by);
      const { email, organizationId = null } = given;
      if (!by.isAdmin) await limits.count({ inviterId: by.identityId, organizationId, email });
      const now = storage.clock.now();
      // an expired invitation must not block a new one
      const over = { email, organizationId, status: 'pending', expiresAt: { $lte: now } } as const;
      await Invitations.updateMany(over, { $set: { status: 'expired' } });
      try {
        const record = await Invitations.create({
          _id: id,
          email,
          organizationId,
          role: organizationId === null ? null : (given.role ?? 'member'),
          status: 'pending',
          fromIdentityId: by.identityId,
          expiresAt: new Date(now.getTime() + lifetime),
          mailSince: now,
        });
        await relayTo(id);
        await audit.record('invitation.created', facts, { identityId: null, details: { invitationId: record._id } });
        return show(record.toObject());
      } catch (error) {
        throw isDuplicateKey(error) ? errors.alreadyPending({ cause: error }) : error;
      }
    },

    made: madeIn(Invitations, async (record) => {
      await relayTo(record._id);
      return show(record);
    }),

    /** @throws errors.notFound */
    async get(invitationId: string, query?: ReadQuery): Promise<Invitation> {
      return lists.find(invitationList, Invitations, { _id: invitationId }, { show }, errors.notFound, query);
    },

    list(query: InvitationQuery): Promise<ListAnswer<Invitation>> {
      const { status } = query;
      const scope = { ...(status !== undefined && ofStatus(status)) };
      return lists.answer(invitationList, Invitations, { scope, cursorScope: { status }, show }, query);
    },

    /** Soft-deletes an invitation, which then cannot be accepted. @throws errors.notFound */
    async delete(invitationId: string, facts: RequestFacts): Promise<void> {
      const { deletedCount } = await Invitations.deleteOne({ _id: invitationId });
      if (deletedCount === 0) throw errors.notFound();
      // it would be refused anyway; this makes a mere token check say so too
      await withdrawTokens([invitationId]);
      await audit.record('invitation.deleted', facts, { identityId: null, details: { invitationId } });
    },

    /** The organization of an invitation; undefined when the invitation is missing or has none. For access rules. */
    async organizationIdOf(invitationId: string): Promise<string | undefined> {
      const found = await Invitations.findById(invitationId, { organizationId: 1 }).lean<InvitationRecord>();
      return found?.organizationId ?? undefined;
    },
  };
}
