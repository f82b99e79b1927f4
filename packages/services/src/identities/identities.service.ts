import type { EventBus } from '@tandem/core';
import { isDuplicateKey, newId, present, type Presented, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import { NO_REQUEST } from '../audit/request-facts.js';
import { NEWEST_FIRST, findPage, type Page, type PageQuery } from '../shared/paging.js';
import { identityErrors } from './identities.errors.js';
import type { IdentityPatch } from './identities.schemas.js';
import { identityModel, type IdentityRecord } from './identity.model.js';
import { createProviderAccounts, toLinked, type ProviderAccount } from './provider-accounts.js';

export type IdentitiesService = ReturnType<typeof createIdentitiesService>;
/** Fields that are not shown, and not read where a record is. */
const HIDDEN = ['passwordHash', 'sessionEpoch', 'providers'] as const;
type ShownIdentity = Omit<Presented<IdentityRecord>, (typeof HIDDEN)[number]>;

/** Published when all sessions of an identity have ended, or its state has changed: copies of it are out of date. */
export const IDENTITY_CHANGED = 'identities.changed';
export interface IdentityChanged {
  identityId: string;
}

interface IdentitiesOptions {
  storage: Storage;
  bus: EventBus;
  audit: AuditService;
  /** Removes the sessions of an identity of epochs before this one, which have ended; must not fail. Later ones may have begun already. */
  removeSessions(identityId: string, before: number): Promise<void>;
}

/** What decides whether an identity may act at this moment. */
export interface AccessState {
  typeId: string;
  sessionEpoch: number;
  /** Locked by an admin, or deactivated. */
  isBarred: boolean;
}

/** What a login needs to know of an identity. */
export interface Credentials extends AccessState {
  id: string;
  /** Undefined where no password has been set: none is right then. */
  passwordHash: string | undefined;
}

/** A new identity: `email` trimmed and lower-cased; it signs in by a password, of which this is the bcrypt hash, or by a provider's account. */
export interface NewIdentity {
  email: string;
  typeId: string;
  emailVerified?: boolean;
  passwordHash?: string;
  account?: ProviderAccount;
}

type StateFields = Pick<IdentityRecord, 'typeId' | 'sessionEpoch' | 'locked' | 'deactivatedAt'>;
const STATE = { typeId: 1, sessionEpoch: 1, locked: 1, deactivatedAt: 1 } as const;

/** What a host, or an import, may have left out of a record. */
const ABSENT = { emailVerified: false, locked: false, deactivatedAt: null, sessionEpoch: 0 } as const;

/** Reads leave the hash out by themselves; a record just written has it. */
function show(record: IdentityRecord): ShownIdentity {
  const { passwordHash, sessionEpoch, providers, ...shown } = { ...ABSENT, ...present(record) };
  return shown;
}

function toState(record: StateFields): AccessState {
  const { typeId, sessionEpoch, locked, deactivatedAt } = { ...ABSENT, ...record };
  return { typeId, sessionEpoch, isBarred: locked || deactivatedAt !== null };
}

/**
 * Identities and their states. Ids are UUID strings; nothing here knows HTTP, and no password hash leaves but to `credentialsOf`.
 * Changes are recorded in the audit trail, with the facts of the request where one asked for it.
 */
export function createIdentitiesService({ storage, bus, audit, removeSessions }: IdentitiesOptions) {
  const Identities = storage.model(identityModel);

  function announce(identityId: string): void {
    bus.publish(IDENTITY_CHANGED, { identityId } satisfies IdentityChanged);
  }

  /** One atomic change of one live identity; `endSessions` ends them in the same write. */
  async function change(identityId: string, set: Partial<IdentityRecord>, endSessions = false): Promise<ShownIdentity> {
    const update = { $set: set, ...(endSessions && { $inc: { sessionEpoch: 1 } }) };
    const record = await Identities.findByIdAndUpdate(identityId, update, { returnDocument: 'after' })
      .select('+sessionEpoch')
      .lean<IdentityRecord>();
    if (!record) throw identityErrors.notFound();
    announce(identityId);
    if (endSessions) await removeSessions(identityId, record.sessionEpoch);
    return show(record);
  }

  /** @throws identityErrors.emailTaken, providerTaken instead of the store's duplicate key */
  async function withUniqueValues<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const duplicate = isDuplicateKey(error);
      if (!duplicate) throw error;
      const isOfProvider = duplicate.fields.includes('providers.key');
      throw identityErrors[isOfProvider ? 'providerTaken' : 'emailTaken']({ cause: error });
    }
  }

  return {
    /** Accounts at identity providers. */
    providerAccounts: createProviderAccounts(storage),

    /** @throws identityErrors.emailTaken when a live identity has the address, providerTaken when one has the account */
    create({ account, ...given }: NewIdentity): Promise<ShownIdentity> {
      return withUniqueValues(async () => {
        const providers = account && [toLinked(account, storage.clock.now())];
        const record = await Identities.create({ _id: newId(storage.clock), ...given, ...(providers && { providers }) });
        return show(record.toObject());
      });
    },

    async isEmailTaken(email: string): Promise<boolean> {
      return (await Identities.exists({ email })) !== null;
    },

    /** @throws identityErrors.notFound */
    async get(identityId: string): Promise<ShownIdentity> {
      const record = await Identities.findById(identityId).lean<IdentityRecord>();
      if (!record) throw identityErrors.notFound();
      return show(record);
    },

    list(query: PageQuery): Promise<Page<ShownIdentity>> {
      return findPage(Identities, { filter: {}, sort: NEWEST_FIRST, without: HIDDEN, show }, query);
    },

    /**
     * Changes what is given; a changed email is unverified unless the same change says otherwise (decisions A8).
     * @throws identityErrors.nothingToUpdate for an empty change, notFound, emailTaken
     */
    async patch(identityId: string, patch: IdentityPatch, by = NO_REQUEST): Promise<ShownIdentity> {
      function recordChange(): Promise<void> {
        const details = { fields: Object.keys(patch), ...(patch.typeId !== undefined && { typeId: patch.typeId }) };
        return audit.record('identity.changed', by, { identityId, details });
      }
      const { email, emailVerified, typeId } = patch;
      const given = { ...(emailVerified !== undefined && { emailVerified }), ...(typeId !== undefined && { typeId }) };
      if (email === undefined) {
        if (Object.keys(given).length === 0) throw identityErrors.nothingToUpdate();
        const shown = await change(identityId, given);
        await recordChange();
        return shown;
      }
      // one write for either case: the address that is there already stays as verified as it is
      const isVerified = { $and: [{ $eq: ['$email', { $literal: email }] }, '$emailVerified'] };
      const set = { emailVerified: isVerified, ...literals(given), email: { $literal: email } };
      return withUniqueValues(async () => {
        const options = { returnDocument: 'after', updatePipeline: true } as const;
        const record = await Identities.findByIdAndUpdate(identityId, [{ $set: set }], options).lean<IdentityRecord>();
        if (!record) throw identityErrors.notFound();
        announce(identityId);
        await recordChange();
        return show(record);
      });
    },

    /** Deletes softly and ends all sessions. @throws identityErrors.notFound */
    async delete(identityId: string, by = NO_REQUEST): Promise<void> {
      await change(identityId, { deletedAt: storage.clock.now() }, true);
      await audit.record('identity.deleted', by, { identityId });
    },

    /** @throws identityErrors.notFound when there is nothing to restore; emailTaken, providerTaken when they have been given away */
    async restore(identityId: string, by = NO_REQUEST): Promise<ShownIdentity> {
      const record = await withUniqueValues(() => Identities.restore(identityId));
      if (!record) throw identityErrors.notFound();
      announce(identityId);
      await audit.record('identity.restored', by, { identityId });
      return show(record);
    },

    /** Bars the identity until it is unlocked, and ends all sessions. @throws identityErrors.notFound */
    async lock(identityId: string, by = NO_REQUEST): Promise<void> {
      await change(identityId, { locked: true }, true);
      await audit.record('identity.locked', by, { identityId });
    },

    /** @throws identityErrors.notFound */
    async unlock(identityId: string, by = NO_REQUEST): Promise<ShownIdentity> {
      const shown = await change(identityId, { locked: false });
      await audit.record('identity.unlocked', by, { identityId });
      return shown;
    },

    /** Ends all sessions of an identity; of a missing one there are none. */
    async endSessions(identityId: string, by = NO_REQUEST): Promise<void> {
      try {
        await change(identityId, {}, true);
        await audit.record('sessions.ended', by, { identityId });
      } catch (error) {
        if (!identityErrors.notFound.matches(error)) throw error;
      }
    },

    /** What a login checks: the one way out for a password hash, and only inside the server. */
    async credentialsOf(email: string): Promise<Credentials | undefined> {
      const record = await Identities.findOne({ email }, { ...STATE, passwordHash: 1 }).lean<IdentityRecord>();
      return record ? { id: record._id, passwordHash: record.passwordHash, ...toState(record) } : undefined;
    },

    /** Whether and as what an identity may act; undefined when it is missing or deleted. */
    async accessStateOf(identityId: string): Promise<AccessState | undefined> {
      const record = await Identities.findById(identityId, STATE).lean<IdentityRecord>();
      return record ? toState(record) : undefined;
    },

    /** Which of these identities exist, whatever state they are in. */
    async existing(identityIds: readonly string[]): Promise<Set<string>> {
      const found = await Identities.find({ _id: { $in: identityIds } }, { _id: 1 }).lean<Pick<IdentityRecord, '_id'>[]>();
      return new Set(found.map(({ _id }) => _id));
    },

    async hasAnyOf(typeId: string): Promise<boolean> {
      return (await Identities.exists({ typeId })) !== null;
    },
  };
}

/** Values of an update pipeline, which would else be read as expressions. */
function literals(values: Record<string, unknown>): Record<string, { $literal: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value }]));
}
