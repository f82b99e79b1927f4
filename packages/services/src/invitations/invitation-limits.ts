import { createHash } from 'node:crypto';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import { invitationCountModel, type InvitationCountRecord } from './invitation-count.model.js';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** How many invitations are made within which time (decisions H7). */
const LIMITS = {
  inviter: { most: 20, withinMs: HOUR_MS },
  /** To one address, from one organization or else from one inviter. */
  address: { most: 3, withinMs: DAY_MS },
  organization: { most: 100, withinMs: DAY_MS },
} as const;

/**
 * Limits of invitations: each sends a mail to somebody who has not asked for it. They are counted in the store, over all instances, and not by
 * the invitations that there are, since those can be deleted.
 */
export function createInvitationLimits(storage: Storage) {
  const { clock } = storage;
  const { collection } = storage.model(invitationCountModel);

  /** Counts one more by one atomic write, unless there are enough already. @throws requestErrors.tooMany */
  async function count(limit: keyof typeof LIMITS, ...of: string[]): Promise<void> {
    const { most, withinMs } = LIMITS[limit];
    const now = clock.now();
    const since = new Date(now.getTime() - withinMs);
    const recent = { $filter: { input: { $ifNull: ['$at', []] }, cond: { $gt: ['$$this', since] } } };
    const kept = { at: recent, createdAt: { $ifNull: ['$createdAt', now] }, updatedAt: now };
    const counted = { $cond: [{ $lt: [{ $size: '$at' }, most] }, { $concatArrays: ['$at', [now]] }, '$at'] };
    const update = [{ $set: { ...kept, expiresAt: new Date(now.getTime() + withinMs) } }, { $set: { at: counted } }];
    const filter = { _id: [limit, ...of].join(' ') } as object;
    const write = () => collection.findOneAndUpdate(filter, update, { upsert: true, returnDocument: 'before' });
    // of two that make the record at once, the store lets one try again
    const found = await write().catch((error: unknown) => {
      if (isDuplicateKey(error) === false) throw error;
      return write();
    });
    const before = ((found as unknown as InvitationCountRecord | null)?.at ?? []).map((at) => at.getTime());
    const counting = before.filter((at) => at > since.getTime());
    if (counting.length < most) return;
    const waitMs = Math.min(...counting) + withinMs - now.getTime();
    throw requestErrors.tooMany({ retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
  }

  return {
    /**
     * Counts an invitation that somebody asks for. What all of an organization share comes last, so that nobody uses it up by invitations that
     * are refused.
     * @throws requestErrors.tooMany
     */
    async count({ inviterId, organizationId, email }: { inviterId: string; organizationId: string | null; email: string }) {
      await count('inviter', inviterId);
      await count('address', organizationId ?? inviterId, createHash('sha256').update(email).digest('base64url'));
      if (organizationId !== null) await count('organization', organizationId);
    },
  };
}
export type InvitationLimits = ReturnType<typeof createInvitationLimits>;
