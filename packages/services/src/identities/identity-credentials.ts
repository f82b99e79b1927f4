import type { Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { STATE, toState, type AccessState } from './access-state.js';
import { isEpoch, withUniqueValues, type Consequences, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { ABSENT, identityModel, type IdentityRecord } from './identity.model.js';

/** What the flows of sign-in need to know of an identity. */
export interface Credentials extends AccessState {
  id: string;
  email: string;
  emailVerified: boolean;
  /** Undefined where no password has been set: none is right then. */
  passwordHash: string | undefined;
  onetimeEpoch: number;
}

const CREDENTIALS = { ...STATE, email: 1, emailVerified: 1, passwordHash: 1, onetimeEpoch: 1 } as const;

/** What identities prove themselves with, for the flows of sign-in. */
export function createIdentityCredentials(storage: Storage, { tryChange }: IdentityChanges) {
  const Identities = storage.model(identityModel);

  return {
    /**
     * Sets a new password, ends all sessions and voids one-time tokens, if none of these was voided since `epoch`: of many at once, one does.
     * @param provesEmail by a link that was mailed: the address is verified then, and whoever linked a provider before that may be a stranger
     * who registered it (decisions H6)
     * @returns whether this call did
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
        voidTokens: true,
        mail,
        ...(provesEmail && { unlink: 'if unverified' as const }),
      };
      return (await tryChange(filter, set, consequences)) !== undefined;
    },

    /** Replaces a hash by another one of the same password, unless the password has been changed meanwhile. */
    async upgradeHash(identityId: string, from: string, to: string): Promise<void> {
      await Identities.updateOne({ _id: identityId, passwordHash: from }, { $set: { passwordHash: to } });
    },

    /**
     * Notes that the identity's address is its own, if it is still this one. Who linked a provider before may have been a stranger: in the
     * same write all are removed, and the sessions that came by one end (decisions H6).
     * @param endSessions whether all other sessions end too, and which one goes on
     * @returns whether this call did
     */
    async verifyEmail(identityId: string, email: string, endSessions: Consequences['endSessions'] = false): Promise<boolean> {
      const filter = { _id: identityId, email, emailVerified: { $ne: true } } as const;
      return (await tryChange(filter, { emailVerified: true }, { unlink: 'all', endSessions })) !== undefined;
    },

    /**
     * Changes the address to one that is proved, if no one-time token was voided since `epoch`: that voids them, removes every provider and
     * ends the sessions, since what was set up under the old address may not be its new owner's (decisions H6).
     * @param but the session that goes on, if any
     * @returns whether this call did
     * @throws identityErrors.emailTaken
     */
    async changeEmail(
      identityId: string,
      email: string,
      { epoch, mail, but }: { epoch: number; mail: QueuedMail; but: SessionRef | undefined },
    ): Promise<boolean> {
      const filter = { _id: identityId, ...isEpoch(epoch) };
      const consequences = { unlink: 'all', endSessions: but ? { but } : true, voidTokens: true, mail } as const;
      return withUniqueValues(async () => (await tryChange(filter, { email, emailVerified: true }, consequences)) !== undefined);
    },

    /** What sign-in checks: the one way out for a password hash, and only inside the server. */
    async credentialsOf(by: { email: string } | { id: string }): Promise<Credentials | undefined> {
      const filter = 'id' in by ? { _id: by.id } : by;
      const record = await Identities.findOne(filter, CREDENTIALS).lean<IdentityRecord>();
      if (!record) return undefined;
      const { _id: id, email, passwordHash, emailVerified, onetimeEpoch } = { ...ABSENT, ...record };
      return { id, email, passwordHash, emailVerified, onetimeEpoch, ...toState(record) };
    },

    /** The epoch of an identity's one-time tokens; undefined when it is missing or deleted. */
    async onetimeEpochOf(identityId: string): Promise<number | undefined> {
      const record = await Identities.findById(identityId, { onetimeEpoch: 1 }).lean<IdentityRecord>();
      return record ? { ...ABSENT, ...record }.onetimeEpoch : undefined;
    },

    /** Whether and as what an identity may act; undefined when it is missing or deleted. */
    async accessStateOf(identityId: string): Promise<AccessState | undefined> {
      const record = await Identities.findById(identityId, STATE).lean<IdentityRecord>();
      return record ? toState(record) : undefined;
    },

    /** The same of many, by id; of a missing or deleted one there is nothing. */
    async accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>> {
      const records = await Identities.find({ _id: { $in: identityIds } }, STATE).lean<IdentityRecord[]>();
      return new Map(records.map((record) => [record._id, toState(record)]));
    },
  };
}
