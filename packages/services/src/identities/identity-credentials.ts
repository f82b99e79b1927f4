import type { Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { isEpoch, withUniqueValues, type IdentityChanges } from './identity-changes.js';
import { ABSENT, identityModel, type IdentityRecord } from './identity.model.js';

/** What decides whether an identity may act at this moment. */
export interface AccessState {
  typeId: string;
  sessionEpoch: number;
  /** Locked by an admin, or deactivated. */
  isBarred: boolean;
}

/** What the flows of sign-in need to know of an identity. */
export interface Credentials extends AccessState {
  id: string;
  email: string;
  emailVerified: boolean;
  /** Undefined where no password has been set: none is right then. */
  passwordHash: string | undefined;
  onetimeEpoch: number;
}

type StateFields = Pick<IdentityRecord, 'typeId' | 'sessionEpoch' | 'locked' | 'deactivatedAt'>;
const STATE = { typeId: 1, sessionEpoch: 1, locked: 1, deactivatedAt: 1 } as const;
const CREDENTIALS = { ...STATE, email: 1, emailVerified: 1, passwordHash: 1, onetimeEpoch: 1 } as const;

function toState(record: StateFields): AccessState {
  const { typeId, sessionEpoch, locked, deactivatedAt } = { ...ABSENT, ...record };
  return { typeId, sessionEpoch, isBarred: locked || deactivatedAt !== null };
}

/** What identities prove themselves with, for the flows of sign-in. */
export function createIdentityCredentials(storage: Storage, { tryChange }: IdentityChanges) {
  const Identities = storage.model(identityModel);

  return {
    /**
     * Sets a new password, ends all sessions and voids one-time tokens, if none of these was voided since `epoch`: of many at once, one does.
     * @returns whether this call did
     */
    async setPassword(
      identityId: string,
      passwordHash: string,
      { epoch, mail }: { epoch: number; mail: QueuedMail },
    ): Promise<boolean> {
      const filter = { _id: identityId, ...isEpoch(epoch) };
      return (await tryChange(filter, { passwordHash }, { endSessions: true, voidTokens: true, mail })) !== undefined;
    },

    /** Replaces a hash by another one of the same password, unless the password has been changed meanwhile. */
    async upgradeHash(identityId: string, from: string, to: string): Promise<void> {
      await Identities.updateOne({ _id: identityId, passwordHash: from }, { $set: { passwordHash: to } });
    },

    /**
     * Notes that the identity's address is its own, if it is still this one.
     * @returns whether this call did
     */
    async verifyEmail(identityId: string, email: string): Promise<boolean> {
      const filter = { _id: identityId, email, emailVerified: { $ne: true } } as const;
      return (await tryChange(filter, { emailVerified: true })) !== undefined;
    },

    /**
     * Changes the address to one that is proved, and voids one-time tokens, if none of these was voided since `epoch`.
     * @returns whether this call did
     * @throws identityErrors.emailTaken
     */
    async changeEmail(identityId: string, email: string, { epoch, mail }: { epoch: number; mail: QueuedMail }): Promise<boolean> {
      const filter = { _id: identityId, ...isEpoch(epoch) };
      const set = { email, emailVerified: true };
      return withUniqueValues(async () => (await tryChange(filter, set, { voidTokens: true, mail })) !== undefined);
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
