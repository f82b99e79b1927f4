import type { IdentityTypeIds } from '@tandem/core';
import { newId, type Fence, type Storage } from '@tandem/storage';
import type { AccessState } from '../identities/access-state.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { MANAGING_ROLES, rolesAbove, type OrganizationRole } from '../organizations/roles.js';
import { invitationModel, type InvitationRecord } from './invitation.model.js';

/** What an invitation gives, and who gives it. */
export type Given = Pick<InvitationRecord, 'fromIdentityId' | 'organizationId' | 'role'>;

interface StandingOptions {
  storage: Storage;
  typeIds: IdentityTypeIds;
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  organizations: Pick<OrganizationsService, 'rolesIn'>;
  /** Makes the tokens of invitations unusable. */
  withdrawTokens(invitationIds: readonly string[]): Promise<void>;
}

/** Of a step that has nothing to take back. */
const nothing = () => Promise.resolve();

/** Whether a holder of this role may invite as that one. */
function outranks(own: OrganizationRole | null, role: OrganizationRole | null): boolean {
  return own !== null && MANAGING_ROLES.some((one) => one === own) && (role === null || !rolesAbove(own).includes(role));
}

/**
 * Whether who has made an invitation may still make it. An invitation counts no longer than that: somebody who is removed from an organization
 * would else come back by one that was made in time (decisions H7).
 */
export function createStanding({ storage, typeIds, accessStateOf, organizations, withdrawTokens }: StandingOptions) {
  const Invitations = storage.model(invitationModel);

  /** Which of these invitations of one person may still be made. Where the organization is gone there is nothing to lose. */
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

  /** Withdraws what one of these has invited to and may no longer; for good, whatever they are given back. Again is fine. */
  async function review(inviterIds: readonly string[]): Promise<void> {
    const filter = { fromIdentityId: { $in: inviterIds }, status: 'pending' } as const;
    const pending = await Invitations.find(filter, { fromIdentityId: 1, organizationId: 1, role: 1 }).lean<InvitationRecord[]>();
    const inviters = new Set(pending.map(({ fromIdentityId }) => fromIdentityId));
    const kept = await Promise.all(
      [...inviters].map((inviterId) => stillMade(inviterId, pending.filter(({ fromIdentityId }) => fromIdentityId === inviterId))), // prettier-ignore
    );
    const keptIds = new Set(kept.flat().map(({ _id }) => _id));
    const ids = pending.map(({ _id }) => _id).filter((id) => !keptIds.has(id));
    if (ids.length === 0) return;
    await Invitations.updateMany({ _id: { $in: ids }, status: 'pending' }, { $set: { status: 'withdrawn' } });
    await withdrawTokens(ids);
  }

  /** Changes under way in this process. One whose process has died is no longer here; whether it was made, the review sees. */
  const changes = new Map<string, (open: Fence['open']) => Promise<void>>();
  const reviewed = storage.defineUnit<{ changeId: string; inviterIds: readonly string[] }>({
    name: 'invitations.review',
    steps: [
      { name: 'change', run: async ({ changeId }, { open }) => changes.get(changeId)?.(open), undo: nothing },
      // taking it back is to try again: what has failed is left to the next sweep so
      { name: 'review', run: ({ inviterIds }) => review(inviterIds), undo: ({ inviterIds }) => review(inviterIds) },
    ],
  });

  return {
    review,

    /** Whether an invitation may still be made by who has made it. */
    async isMade(given: Given): Promise<boolean> {
      return (await stillMade(given.fromIdentityId, [given])).length > 0;
    },

    /**
     * Runs a change by which these may lose the right to invite, and then withdraws what they have invited to: also when the process dies in
     * between, by the next sweep.
     * @param change makes its write only while `open` holds: so no sweep has reviewed before it
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
