import type { IdentityTypeIds } from '@tandem/core';
import { newId, type Fence, type Storage } from '@tandem/storage';
import type { AccessState } from '../identities/access-state.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { isManaging, rolesAbove, type OrganizationRole } from '../organizations/roles.js';
import { invitationModel, pendingAt, type InvitationRecord } from './invitation.model.js';

/** What an invitation grants, and its inviter. */
export type Given = Pick<InvitationRecord, 'fromIdentityId' | 'organizationId' | 'role'>;

interface StandingOptions {
  storage: Storage;
  typeIds: IdentityTypeIds;
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  /** The addresses that people have, or had until a time; also of deleted ones. */
  emailsOf(identityIds: readonly string[]): Promise<{ email: string; until?: Date }[]>;
  organizations: Pick<OrganizationsService, 'rolesIn'>;
  /** Voids the tokens of invitations. */
  withdrawTokens(invitationIds: readonly string[]): Promise<void>;
}

/** For a step with nothing to undo. */
const nothing = () => Promise.resolve();

/** Whether the holder of a role may invite others to the given role. */
function outranks(own: OrganizationRole | null, role: OrganizationRole | null): boolean {
  return own !== null && isManaging(own) && (role === null || !rolesAbove(own).includes(role));
}

/**
 * Checks whether inviters still have the right to the invitations they made. An invitation is only valid that long; otherwise
 * somebody removed from an organization could return by an invitation made before (decisions H7).
 */
export function createStanding({ storage, typeIds, accessStateOf, emailsOf, organizations, withdrawTokens }: StandingOptions) {
  const Invitations = storage.model(invitationModel);

  /** Those of a person's invitations that the person may still make. An invitation to a deleted organization is kept. */
  async function stillMade<Invitation extends Given>(inviterId: string, given: readonly Invitation[]): Promise<Invitation[]> {
    const state = await accessStateOf(inviterId);
    if (!state || state.isBarred || state.typeId === typeIds.guest) return [];
    if (state.typeId === typeIds.admin) return [...given];
    const organizationIds = [...new Set(given.flatMap(({ organizationId }) => organizationId ?? []))];
    const roles = await organizations.rolesIn(organizationIds, inviterId);
    return given.filter(({ organizationId, role }) => {
      const own = organizationId === null ? null : roles.get(organizationId);
      return own === undefined || outranks(own, role);
    });
  }

  async function withdraw(invitations: readonly InvitationRecord[]): Promise<void> {
    const ids = invitations.map(({ _id }) => _id);
    if (ids.length === 0) return;
    await Invitations.updateMany({ _id: { $in: ids }, status: 'pending' }, { $set: { status: 'withdrawn' } });
    await withdrawTokens(ids);
  }

  /** Withdraws, for good, those of the pending invitations that their inviters may no longer make. Idempotent. */
  async function reviewThose(which: object): Promise<void> {
    const filter = { ...which, ...pendingAt(storage.clock.now()) };
    const pending = await Invitations.find(filter, { fromIdentityId: 1, organizationId: 1, role: 1 }).lean<InvitationRecord[]>();
    const inviters = new Set(pending.map(({ fromIdentityId }) => fromIdentityId));
    const kept = await Promise.all(
      [...inviters].map((inviterId) => stillMade(inviterId, pending.filter(({ fromIdentityId }) => fromIdentityId === inviterId))), // prettier-ignore
    );
    const keptIds = new Set(kept.flat().map(({ _id }) => _id));
    await withdraw(pending.filter(({ _id }) => !keptIds.has(_id)));
  }

  const review = (inviterIds: readonly string[]) => reviewThose({ fromIdentityId: { $in: inviterIds } });

  /** Changes under way in this process. The change of a dead process is missing here; its review runs anyway. */
  const changes = new Map<string, (open: Fence['open']) => Promise<void>>();
  const reviewed = storage.defineUnit<{ changeId: string; inviterIds: readonly string[] }>({
    name: 'invitations.review',
    steps: [
      { name: 'change', run: async ({ changeId }, { open }) => changes.get(changeId)?.(open), undo: nothing },
      // undo reviews again, which leaves a failed review to the next sweep
      { name: 'review', run: ({ inviterIds }) => review(inviterIds), undo: ({ inviterIds }) => review(inviterIds) },
    ],
  });

  return {
    /** Reviews all that these inviters have made. */
    review,

    /** Reviews one invitation. */
    reviewOne: (invitationId: string) => reviewThose({ _id: invitationId }),

    /** Withdraws, for good, the invitations of these people to an organization, also those that are being accepted. Idempotent. */
    async withdrawFrom(identityIds: readonly string[], organizationId: string): Promise<void> {
      const had = identityIds.length === 0 ? [] : await emailsOf(identityIds);
      if (had.length === 0) return;
      const now = storage.clock.now();
      // to a former address while it was theirs: later ones are for who has it now
      const to = had.map(({ email, until }) => ({ email, ...(until && { createdAt: { $lte: until } }) }));
      const theirs = { organizationId, $and: [{ $or: to }] };
      // in one write, since acceptances make pending ones accepted meanwhile, and pending again when they fail
      const which = { ...theirs, $or: [{ status: 'accepted' as const, revokedAt: null }, pendingAt(now)] };
      const isPending = { $eq: ['$status', 'pending'] };
      const status = { $cond: [isPending, 'withdrawn', '$status'] };
      const revokedAt = { $cond: [isPending, '$revokedAt', now] };
      await Invitations.updateMany(which, [{ $set: { status, revokedAt } }], { updatePipeline: true });
      const withdrawn = await Invitations.find({ ...theirs, status: 'withdrawn' }, { _id: 1 }).lean<InvitationRecord[]>();
      if (withdrawn.length > 0) await withdrawTokens(withdrawn.map(({ _id }) => _id));
    },

    /** Whether the inviter may still make this invitation. */
    async isMade(given: Given): Promise<boolean> {
      return (await stillMade(given.fromIdentityId, [given])).length > 0;
    },

    /**
     * Runs a change that may cost these inviters their right, then withdraws their invitations. If the process dies in between,
     * the next sweep does.
     * @param change must only write while `open` matches, so that no sweep reviews before the change is made
     * @throws what the change throws
     */
    async reviewAfter<T>(inviterIds: readonly string[], change: (open: Fence['open']) => Promise<T>): Promise<T> {
      const changeId = newId(storage.clock);
      const results: T[] = [];
      changes.set(changeId, async (open) => {
        results.push(await change(open));
      });
      try {
        await reviewed.run({ changeId, inviterIds });
      } finally {
        changes.delete(changeId);
      }
      return results[0] as T;
    },
  };
}
export type Standing = ReturnType<typeof createStanding>;
