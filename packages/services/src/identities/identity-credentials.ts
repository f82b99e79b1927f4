import type { Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { isEpoch, withUniqueValues, type Consequences, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { identityModel } from './identity.model.js';

/** Passwords and email addresses of identities, for sign-in. */
export function createIdentityCredentials(storage: Storage, { tryChange }: IdentityChanges) {
  const Identities = storage.model(identityModel);

  return {
    /**
     * Sets a new password, ends all sessions and voids one-time tokens, unless these were voided since `epoch`; of concurrent
     * calls one succeeds.
     * @param provesEmail the password is set with a mailed link: the address is then verified, provider links are removed if it was
     * not before, and so are passkeys added while it was not, because a stranger may have registered it (decisions H6); the API keys
     * end (E4)
     * @returns whether this call set it
     */
    async setPassword(
      identityId: string,
      passwordHash: string,
      { epoch, mail, provesEmail }: { epoch: number; mail: QueuedMail; provesEmail: boolean },
    ): Promise<boolean> {
      const filter = { _id: identityId, ...isEpoch(epoch) };
      const set = { passwordHash, ...(provesEmail && { emailVerified: true }) };
      const consequences = {
        endSessions: true,
        endKeys: provesEmail,
        voidTokens: true,
        mail,
        ...(provesEmail && { unlink: 'if unverified' as const, removePasskeys: 'unproved' as const }),
      };
      return (await tryChange(filter, set, consequences)) !== undefined;
    },

    /** Replaces a hash by another of the same password, unless the password has changed meanwhile. */
    async upgradeHash(identityId: string, from: string, to: string): Promise<void> {
      const change = { $set: { passwordHash: to } };
      await Identities.updateOne({ _id: identityId, passwordHash: from }, change, { timestamps: false });
    },

    /**
     * Marks the address verified, if the identity still has it. A stranger may have linked providers before, so the same write
     * removes them all and ends the sessions that came by one (decisions H6).
     * @param endSessions whether to end all other sessions and the API keys and to remove passkeys too, and which session to keep
     * @param by the session that confirms, if any: the passkeys are then no stranger's; else the next reset removes them
     * @returns whether this call verified it
     */
    async verifyEmail(
      identityId: string,
      email: string,
      { endSessions = false, by }: { endSessions?: Consequences['endSessions']; by?: SessionRef | undefined } = {},
    ): Promise<boolean> {
      const filter = { _id: identityId, email, emailVerified: { $ne: true } } as const;
      const isOthers = endSessions !== false;
      const removal = isOthers ? ({ removePasskeys: 'unproved' } as const) : { provePasskeys: { by } };
      const consequences = { unlink: 'all', endSessions, endKeys: isOthers, ...removal } as const;
      return (await tryChange(filter, { emailVerified: true }, consequences)) !== undefined;
    },

    /**
     * Changes the address to a proved one, unless one-time tokens were voided since `epoch`. The same write voids them, removes
     * every provider and ends sessions and API keys, because the owner of the new address may not have set them up (decisions H6);
     * passkeys too, unless a session confirms, which a stranger who has set them up does not share with that owner.
     * @param but the session that confirms, to keep
     * @returns whether this call changed it
     * @throws identityErrors.emailTaken
     */
    async changeEmail(
      identityId: string,
      email: string,
      { epoch, mail, but }: { epoch: number; mail: QueuedMail; but: SessionRef | undefined },
    ): Promise<boolean> {
      const filter = { _id: identityId, ...isEpoch(epoch) };
      const ended = { endSessions: but ? { but } : true, endKeys: true, voidTokens: true } as const;
      const consequences = { ...ended, unlink: 'all', removePasskeys: { unlessBy: but }, mail } as const;
      return withUniqueValues(async () => (await tryChange(filter, { email, emailVerified: true }, consequences)) !== undefined);
    },
  };
}
