import type { Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { STATE, toState, type AccessState } from './access-state.js';
import { isEpoch, withUniqueValues, type Consequences, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { ABSENT, identityModel, type IdentityRecord } from './identity.model.js';

/** The fields of an identity that sign-in needs. */
export interface Credentials extends AccessState {
  id: string;
  email: string;
  emailVerified: boolean;
  /** Undefined when no password is set; then none matches. */
  passwordHash: string | undefined;
  onetimeEpoch: number;
}

const CREDENTIALS = { ...STATE, email: 1, emailVerified: 1, passwordHash: 1, onetimeEpoch: 1 } as const;

/** Passwords and email addresses of identities, for sign-in. */
export function createIdentityCredentials(storage: Storage, { tryChange }: IdentityChanges) {
  const Identities = storage.model(identityModel);

  return {
    /**
     * Sets a new password, ends all sessions and voids one-time tokens, unless these were voided since `epoch`; of concurrent
     * calls one succeeds.
     * @param provesEmail the password is set with a mailed link: the address is then verified, and if it was not before, provider
     * links are removed, because a stranger may have registered it and linked them (decisions H6)
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
        voidTokens: true,
        mail,
        ...(provesEmail && { unlink: 'if unverified' as const }),
      };
      return (await tryChange(filter, set, consequences)) !== undefined;
    },

    /** Replaces a hash by another of the same password, unless the password has changed meanwhile. */
    async upgradeHash(identityId: string, from: string, to: string): Promise<void> {
      await Identities.updateOne({ _id: identityId, passwordHash: from }, { $set: { passwordHash: to } });
    },

    /**
     * Marks the address verified, if the identity still has it. A stranger may have linked providers before, so the same write
     * removes them all and ends the sessions that came by one (decisions H6).
     * @param endSessions whether to end all other sessions too, and which to keep
     * @returns whether this call verified it
     */
    async verifyEmail(identityId: string, email: string, endSessions: Consequences['endSessions'] = false): Promise<boolean> {
      const filter = { _id: identityId, email, emailVerified: { $ne: true } } as const;
      return (await tryChange(filter, { emailVerified: true }, { unlink: 'all', endSessions })) !== undefined;
    },

    /**
     * Changes the address to a proved one, unless one-time tokens were voided since `epoch`. The same write voids them, removes
     * every provider and ends the sessions, because the owner of the new address may not have set them up (decisions H6).
     * @param but a session to keep
     * @returns whether this call changed it
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

    /**
     * Reads the credentials for sign-in. The only function that returns a password hash; its result must not leave the server.
     */
    async credentialsOf(by: { email: string } | { id: string }): Promise<Credentials | undefined> {
      const filter = 'id' in by ? { _id: by.id } : by;
      const record = await Identities.findOne(filter, CREDENTIALS).lean<IdentityRecord>();
      if (!record) return undefined;
      const { _id: id, email, passwordHash, emailVerified, onetimeEpoch } = { ...ABSENT, ...record };
      return { id, email, passwordHash, emailVerified, onetimeEpoch, ...toState(record) };
    },

    /** Epoch of an identity's one-time tokens; undefined when it is missing or deleted. */
    async onetimeEpochOf(identityId: string): Promise<number | undefined> {
      const record = await Identities.findById(identityId, { onetimeEpoch: 1 }).lean<IdentityRecord>();
      return record ? { ...ABSENT, ...record }.onetimeEpoch : undefined;
    },

    /** The access state of an identity; undefined when it is missing or deleted. */
    async accessStateOf(identityId: string): Promise<AccessState | undefined> {
      const record = await Identities.findById(identityId, STATE).lean<IdentityRecord>();
      return record ? toState(record) : undefined;
    },

    /** The access states of many identities by id, without those that are missing or deleted. */
    async accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>> {
      const records = await Identities.find({ _id: { $in: identityIds } }, STATE).lean<IdentityRecord[]>();
      return new Map(records.map((record) => [record._id, toState(record)]));
    },
  };
}
