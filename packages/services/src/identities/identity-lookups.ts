import type { Storage } from '@tandem/storage';
import { existingIn } from '../shared/existing.js';
import { secondSteps, type SecondStep } from './factor-records.js';
import { STATE, toState, type AccessState } from './access-state.js';
import { ABSENT, identityModel, type IdentityRecord } from './identity.model.js';

/** The fields of an identity that sign-in needs. */
export interface Credentials extends AccessState {
  id: string;
  email: string;
  emailVerified: boolean;
  /** Undefined when no password is set; then none matches. */
  passwordHash: string | undefined;
  onetimeEpoch: number;
  /** What can follow its first step of a sign-in; none without a factor (decisions F3). */
  secondSteps: SecondStep[];
}

const CREDENTIALS = {
  ...STATE,
  email: 1,
  emailVerified: 1,
  passwordHash: 1,
  onetimeEpoch: 1,
  'factors.type': 1,
  recoveryCodes: 1,
} as const;

export type IdentityLookups = ReturnType<typeof createIdentityLookups>;

/** Reads of live identities, for everything that identities themselves are built on. */
export function createIdentityLookups(storage: Storage) {
  const Identities = storage.model(identityModel);

  return {
    /** Those of the given identities that exist. */
    existing: existingIn(Identities),

    /** Those of the given identities that exist and are no service accounts. */
    async people(identityIds: readonly string[]): Promise<Set<string>> {
      const found = await Identities.find({ _id: { $in: identityIds }, serviceAccountOf: null }, { _id: 1 }).lean<
        IdentityRecord[]
      >();
      return new Set(found.map(({ _id }) => _id));
    },

    /**
     * The addresses of those of the given identities that are people, and those that they had until a time; also of deleted ones, who
     * may be restored.
     */
    async emailsOf(identityIds: readonly string[]): Promise<{ email: string; until?: Date }[]> {
      const fields = { email: 1, formerEmails: 1 };
      const people = Identities.find({ _id: { $in: identityIds }, serviceAccountOf: null }, fields);
      const found = await people.setOptions({ deleted: 'include' }).lean<IdentityRecord[]>();
      return found.flatMap(({ email, formerEmails = [] }) => [...(email ? [{ email }] : []), ...formerEmails]);
    },

    /** The names of those of the given identities that exist: null for people, whose profiles have one. */
    async namesOf(identityIds: readonly string[]): Promise<Map<string, string | null>> {
      const found = await Identities.find({ _id: { $in: identityIds } }, { name: 1, serviceAccountOf: 1 }).lean<
        IdentityRecord[]
      >();
      return new Map(found.map(({ _id, serviceAccountOf, name }) => [_id, serviceAccountOf ? (name ?? null) : null]));
    },

    /** The organization that a service account belongs to; undefined for other identities. */
    async serviceAccountOf(identityId: string): Promise<string | undefined> {
      return (await Identities.findById(identityId, { serviceAccountOf: 1 }).lean<IdentityRecord>())?.serviceAccountOf;
    },

    /**
     * Reads the credentials for sign-in; a service account has none. The only function that returns a password hash; its result must
     * not leave the server.
     */
    async credentialsOf(by: { email: string } | { id: string }): Promise<Credentials | undefined> {
      const filter = 'id' in by ? { _id: by.id } : by;
      const record = await Identities.findOne({ ...filter, serviceAccountOf: null }, CREDENTIALS).lean<IdentityRecord>();
      if (!record) return undefined;
      const { _id: id, email, passwordHash, emailVerified, onetimeEpoch } = { ...ABSENT, ...record };
      return { id, email, passwordHash, emailVerified, onetimeEpoch, secondSteps: secondSteps(record), ...toState(record) };
    },

    /** Epoch of an identity's one-time tokens; undefined when it is missing, deleted, or a service account, which does not sign in. */
    async onetimeEpochOf(identityId: string): Promise<number | undefined> {
      const record = await Identities.findOne(
        { _id: identityId, serviceAccountOf: null },
        { onetimeEpoch: 1 },
      ).lean<IdentityRecord>();
      return record ? { ...ABSENT, ...record }.onetimeEpoch : undefined;
    },

    /** The access state of an identity; undefined when it is missing or deleted. */
    async accessStateOf(identityId: string): Promise<AccessState | undefined> {
      const live = { _id: identityId, deletedAt: null } as object;
      const record = await Identities.collection.findOne(live, { projection: STATE });
      return record ? toState(record as unknown as IdentityRecord) : undefined;
    },

    /** The access states of many identities by id, without those that are missing or deleted. */
    async accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>> {
      const records = await Identities.find({ _id: { $in: identityIds } }, STATE).lean<IdentityRecord[]>();
      return new Map(records.map((record) => [record._id, toState(record)]));
    },
  };
}
