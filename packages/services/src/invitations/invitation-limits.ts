import { createHash } from 'node:crypto';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import { invitationCountModel, type InvitationCountRecord } from './invitation-count.model.js';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

/** Limits of invitations within a time (decisions H7). */
const LIMITS = {
  inviter: { most: 20, withinMs: HOUR_MS },
  /** To one address from one organization, or from one inviter if there is no organization. */
  address: { most: 3, withinMs: DAY_MS },
  organization: { most: 100, withinMs: DAY_MS },
} as const;

/**
 * Limits invitations, each of which mails somebody who did not ask for it. Counts are kept in the store, across instances, and
 * apart from the invitations, because those can be deleted.
 */
export function createInvitationLimits(storage: Storage) {
  const { clock } = storage;
  const { collection } = storage.model(invitationCountModel);

  /** Counts one invitation by an atomic write, unless the limit is reached. @throws requestErrors.tooMany */
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
    // when two race to insert, the loser gets a duplicate key and retries
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
     * Counts a requested invitation. The organization's shared limit comes last, so that refused invitations do not use it up.
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
