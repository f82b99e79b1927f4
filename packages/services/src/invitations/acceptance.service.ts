import { authenticationErrors, type Identity } from '@tandem/core';
import { isDuplicateKey, newId, type Storage, type UnitStep } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import { authenticationServiceErrors } from '../authentication/authentication.errors.js';
import type { Passwords } from '../authentication/passwords/passwords.js';
import type { SessionsService } from '../authentication/sessions/sessions.service.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { SessionRef } from '../identities/identity-changes.js';
import type { OnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';
import type { Joining, Joinings } from '../organizations/joinings.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import type { OrganizationRole } from '../organizations/roles.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { invitationModel, pendingAt, type InvitationRecord } from './invitation.model.js';
import { invitationErrors as errors } from './invitations.errors.js';
import type { Given, Standing } from './standing.js';

export type AcceptanceService = ReturnType<typeof createAcceptanceService>;

interface AcceptanceOptions {
  storage: Storage;
  identities: IdentitiesService;
  sessions: Pick<SessionsService, 'refOf'>;
  organizations: Pick<OrganizationsService, 'nameOf'>;
  joinings: Joinings;
  standing: Standing;
  onetimeTokens: OnetimeTokensService;
  passwords: Passwords;
  audit: AuditService;
  rateLimits: Pick<RateLimits, 'countAccount'>;
  /** The identity type for accounts created by invitation. */
  typeId: string;
}

/** Everything that accepting writes, prepared beforehand. */
interface Acceptance {
  acceptanceId: string;
  invitationId: string;
  /** The inviter and what the invitation grants. Checked again after joining. */
  given: Given;
  /** Id of the token's stored state. */
  tokenId: string;
  identityId: string;
  email: string;
  at: Date;
  /** The session that accepts. It is kept when the proof of the address ends all others. */
  session?: SessionRef | undefined;
  /** The organization to join, if any. */
  membership?: { organizationId: string; role: OrganizationRole };
}
interface Registration extends Acceptance {
  passwordHash: string;
  typeId: string;
}

/** The membership that an acceptance creates, if any. */
function joiningOf({ acceptanceId: unitId, membership, identityId, at: joinedAt }: Acceptance): Joining | undefined {
  return membership && { ...membership, unitId, identityId, joinedAt };
}

/**
 * Accepts invitations. Account, membership, invitation and token change together, even if the process dies in between (decisions
 * A8).
 */
export function createAcceptanceService(options: AcceptanceOptions) {
  const {
    storage,
    identities,
    sessions,
    joinings,
    standing,
    organizations,
    onetimeTokens,
    passwords,
    audit,
    rateLimits,
    typeId,
  } = options;
  const Invitations = storage.model(invitationModel);

  /** Reserves the invitation; of concurrent acceptances one succeeds. */
  const takeInvitation: UnitStep<Acceptance> = {
    name: 'take the invitation',
    async run({ invitationId, acceptanceId, identityId, at }, { open }) {
      const set = { status: 'accepted', acceptanceId, acceptedBy: identityId, acceptedAt: at } as const;
      const free = { _id: invitationId, ...pendingAt(at), ...open };
      const { matchedCount } = await Invitations.updateOne(free, { $set: set });
      if (matchedCount === 0) throw authenticationErrors.unverified();
    },
    isDone: async ({ invitationId, acceptanceId }) =>
      (await Invitations.exists({ _id: invitationId, acceptanceId }).setOptions({ deleted: 'include' })) !== null,
    async undo(payload) {
      const { invitationId, acceptanceId, given } = payload;
      const own = { _id: invitationId, acceptanceId };
      const free = { acceptanceId: null, acceptedBy: null, acceptedAt: null };
      try {
        await Invitations.updateOne({ ...own, revokedAt: null }, { $set: { ...free, status: 'pending' } });
        await Invitations.updateOne(own, { $set: { ...free, status: 'withdrawn' } });
      } catch (error) {
        // the address was invited again meanwhile, and the new invitation stands
        if (!isDuplicateKey(error)) throw error;
        await Invitations.updateOne(own, { $set: { ...free, status: 'expired' } });
      }
      // given back, its token would pass a mere check
      const over = [{ status: 'withdrawn' }, { status: 'expired' }, { deletedAt: { $ne: null } }] as const;
      const isOver = Invitations.exists({ _id: invitationId, $or: [...over] }).setOptions({ deleted: 'include' });
      if (await isOver) await onetimeTokens.withdraw([invitationId]);
      // a reserved invitation could not be withdrawn by a review, so review the inviter again
      await standing.review([given.fromIdentityId]);
      // taken back by now, and never again
      const joining = joiningOf(payload);
      if (joining) await joinings.forget(joining);
    },
  };

  const useToken: UnitStep<Acceptance> = {
    name: 'use the token up',
    run: ({ tokenId }) => onetimeTokens.markUsed(tokenId),
    undo: ({ tokenId }) => onetimeTokens.giveBack(tokenId),
  };

  /** @throws authenticationErrors.unverified when the inviter may no longer invite */
  async function ask(given: Given): Promise<void> {
    if (!(await standing.isMade(given))) throw authenticationErrors.unverified();
  }

  /** @throws authenticationErrors.unverified when whoever accepts was removed or given another role meanwhile */
  async function expectUnrevoked(invitationId: string): Promise<void> {
    const revoked = { _id: invitationId, revokedAt: { $ne: null } };
    if (await Invitations.exists(revoked).setOptions({ deleted: 'include' })) throw authenticationErrors.unverified();
  }

  /**
   * Joins the organization, if it still exists. The inviter, and whether the person was removed meanwhile, are checked after
   * joining, also by a sweep: what happens later no longer matters, and what happened before takes the joining back.
   * @param missing called when the organization has been deleted; may throw
   */
  const joinOr = (missing: () => void): UnitStep<Acceptance> => ({
    name: 'join the organization',
    async run(payload, fence) {
      const joining = joiningOf(payload);
      if (joining && !(await joinings.join(joining, fence))) missing();
      await ask(payload.given);
      await expectUnrevoked(payload.invitationId);
    },
    async undo(payload) {
      const joining = joiningOf(payload);
      if (joining) await joinings.takeBack(joining);
    },
  });

  const refuseMissing = () => {
    throw organizationErrors.notFound();
  };

  const forgetJoining: UnitStep<Acceptance> = {
    name: 'forget the joining',
    async run(payload) {
      const joining = joiningOf(payload);
      if (joining) await joinings.forget(joining);
    },
    undo: () => Promise.resolve(),
  };

  /** Comes last, so that an account that exists is complete. */
  const createIdentity: UnitStep<Registration> = {
    name: 'create the identity',
    async run({ identityId: id, email, passwordHash, typeId: type }) {
      try {
        await identities.create({ id, email, passwordHash, typeId: type, emailVerified: true });
      } catch (error) {
        if (!(await identities.wasCreated(id))) throw error;
      }
    },
    undo: ({ identityId }) => identities.uncreate(identityId),
  };

  const registration = storage.defineUnit<Registration>({
    name: 'register by invitation',
    // creates an account either way
    steps: [takeInvitation, joinOr(() => {}), forgetJoining, useToken, createIdentity],
  });
  const acceptance = storage.defineUnit<Acceptance>({
    name: 'accept invitation',
    steps: [takeInvitation, useToken, joinOr(refuseMissing), forgetJoining],
  });

  /** The invitation of a token. @throws authenticationErrors.unverified, wrongType */
  async function read(token: string): Promise<{ tokenId: string; invitation: InvitationRecord }> {
    const { id: tokenId, subject } = await onetimeTokens.read(token, 'invitation');
    const filter = { _id: subject, ...pendingAt(storage.clock.now()) };
    const invitation = await Invitations.findOne(filter).lean<InvitationRecord>();
    if (!invitation) throw authenticationErrors.unverified();
    await ask(invitation);
    return { tokenId, invitation };
  }

  function begin({ tokenId, invitation }: Awaited<ReturnType<typeof read>>, identityId: string): Acceptance {
    const { _id: invitationId, email, organizationId, role, fromIdentityId } = invitation;
    const given = { fromIdentityId, organizationId, role };
    const at = storage.clock.now();
    const leads = organizationId !== null && { membership: { organizationId, role: role ?? 'member' } };
    const acceptanceId = newId(storage.clock);
    return { acceptanceId, invitationId, given, tokenId, identityId, email, at, ...leads };
  }

  return {
    /**
     * Creates an account for the invited address, with the promised membership if the organization still exists.
     * @throws authenticationErrors.unverified, wrongType; authenticationServiceErrors.alreadyRegistered, which leaves the token
     * unused; validationError for a common password; organizationErrors.tooManyMembers
     */
    async register(given: { token: string; password: string }, facts: RequestFacts): Promise<{ id: string; email: string }> {
      const found = await read(given.token);
      const { email } = found.invitation;
      await rateLimits.countAccount('register', email, facts.ip);
      const password = await passwords.choose(given.password, { email, field: 'password' });
      if (await identities.isEmailTaken(email)) throw authenticationServiceErrors.alreadyRegistered({ email });
      const id = newId(storage.clock);
      const passwordHash = await passwords.hash(password, { ...facts, account: email });
      try {
        await registration.run({ ...begin(found, id), passwordHash, typeId });
      } catch (error) {
        throw identityErrors.emailTaken.matches(error) ? authenticationServiceErrors.alreadyRegistered({ email }) : error;
      }
      const about = { identityId: id, actorId: id, details: { invitationId: found.invitation._id } };
      await Promise.all([audit.record('registered', facts, about), audit.record('invitation.accepted', facts, about)]);
      return { id, email };
    },

    /**
     * Adds an existing account as invited, and verifies its address; if that was unverified, all other sessions end.
     * @throws authenticationErrors.unverified, wrongType; errors.wrongEmail; organizationErrors.notFound, nameTaken,
     * tooManyMembers
     */
    async accept(token: string, { id: identityId, sessionId }: Identity, facts: RequestFacts): Promise<void> {
      const found = await read(token);
      if ((await identities.credentialsOf({ id: identityId }))?.email !== found.invitation.email) throw errors.wrongEmail();
      const payload = { ...begin(found, identityId), session: await sessions.refOf(sessionId, identityId) };
      if (payload.membership) {
        const { organizationId } = payload.membership;
        if ((await organizations.nameOf(organizationId)) === undefined) throw organizationErrors.notFound();
      }
      // outside the unit, because the token proves the address even if accepting fails
      const { session } = payload;
      const isProof = await identities.verifyEmail(identityId, payload.email, { endSessions: session ? { but: session } : true });
      if (isProof) await audit.record('email.verified', facts, { identityId });
      await acceptance.run(payload);
      await audit.record('invitation.accepted', facts, { identityId, details: { invitationId: payload.invitationId } });
    },
  };
}
