import type { EventBus, Log } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { defineDeletion, newId, present, type Fence, type Presented, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import { NO_REQUEST, type RequestFacts } from '../audit/request-facts.js';
import type { MailsService } from '../mail/mails.service.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { HostGiven } from '../shared/host-fields.js';
import { changedFields, refuseTooManyKeys, roomFor, withoutPrivate } from '../shared/changes.js';
import type { Metadata } from '../shared/metadata.js';
import { givenOf } from '../shared/patching.js';
import { identityErrors } from './identities.errors.js';
import { identityList, type Identity, type IdentityPatch } from './identities.schemas.js';
import { createIdentityChanges, withFormer, withUniqueValues, type IdentityChangesOptions } from './identity-changes.js';
import { createIdentityErasure } from './identity-erasure.js';
import { createIdentityCredentials } from './identity-credentials.js';
import { createIdentityFactors } from './identity-factors.js';
import type { IdentityLookups } from './identity-lookups.js';
import { createIdentityOutbox } from './identity-outbox.js';
import { ABSENT, HIDDEN, identityModel, type IdentityRecord } from './identity.model.js';
import { createProviderAccounts, toLinked, type ProviderAccount } from './provider-accounts.js';

export type IdentitiesService = ReturnType<typeof createIdentitiesService>;

type ShownIdentity = Omit<Presented<IdentityRecord>, (typeof HIDDEN)[number] | 'metadata' | 'name' | 'serviceAccountOf'> &
  Pick<Identity, 'name' | 'serviceAccountOf'> & { metadata: Metadata };

interface IdentitiesOptions {
  storage: Storage;
  bus: EventBus;
  audit: AuditService;
  log: Log;
  mails: Pick<MailsService, 'enqueue'>;
  lists: Lists;
  lookups: IdentityLookups;
  removeSessions: IdentityChangesOptions['removeSessions'];
  /**
   * Runs a change that may cost these identities the right to invite, then withdraws the invitations they may no longer make. The
   * change must only write while `open` matches.
   */
  reviewAfter<T>(identityIds: readonly string[], change: (open: Fence['open']) => Promise<T>): Promise<T>;
  /** Withdraws the pending invitations that these identities may no longer make. Repeatable. */
  review(identityIds: readonly string[]): Promise<void>;
  /** Removes a service account from the members of its organization. Repeatable. */
  leave(organizationId: string, identityId: string): Promise<void>;
}

/** A new identity. `email` is trimmed and lower-cased; `passwordHash` is a bcrypt hash. */
export interface NewIdentity {
  /** Given when a unit of work creates the identity, so that a retry uses the same id. */
  id?: string;
  email: string;
  typeId: string;
  emailVerified?: boolean;
  passwordHash?: string;
}

/** What else ends with the access of an identity. */
const CLOSED = { endSessions: true, endKeys: true, voidTokens: true } as const;

const NOT_GIVEN: object = { ...ABSENT, email: '', metadata: {} };

/** Queries leave out hidden fields, but a record that was just written still has them. */
function showRead(record: IdentityRecord): ShownIdentity {
  const { name, serviceAccountOf, ...given } = present(record);
  const shown: Partial<Presented<IdentityRecord>> = { ...NOT_GIVEN, ...given };
  for (const field of HIDDEN) delete shown[field];
  const isServiceAccount = typeof serviceAccountOf === 'string';
  return { ...shown, ...(isServiceAccount && { serviceAccountOf, name }) } as ShownIdentity;
}

/** The same, as everybody may see it who sees it. */
const show = (record: IdentityRecord): ShownIdentity => showRead(withoutPrivate(record));

/**
 * Identities and their states. Ids are UUID strings; nothing here depends on HTTP, and only `credentialsOf` returns a password
 * hash. Changes go to the audit trail, with the facts of the request if there is one.
 */
export function createIdentitiesService(options: IdentitiesOptions) {
  const { storage, bus, audit, log, removeSessions, mails, lists, lookups, review, reviewAfter, leave } = options;
  const Identities = storage.model(identityModel);
  const showOne = lists.one(identityList, showRead);
  lists.tell('identity', identityList, { show: showRead });
  const { relay, relayAll } = createIdentityOutbox({ storage, log, mails });
  const changes = createIdentityChanges({ storage, bus, removeSessions, relay });
  const { announce, change } = changes;
  const deletion = defineDeletion(storage, identityModel, {
    notFound: identityErrors.notFound,
    parentNotFound: organizationErrors.notFound,
    async mark([_id = ''], condition, mark) {
      const changed = await changes.tryChange({ _id, ...condition }, mark, CLOSED);
      return changed ? 1 : 0;
    },
    async deleted(identityId) {
      await review([identityId]);
      const found = Identities.findById(identityId, { serviceAccountOf: 1 }).setOptions({ deleted: 'only' });
      const { serviceAccountOf } = (await found.lean<IdentityRecord>()) ?? {};
      if (serviceAccountOf) await leave(serviceAccountOf, identityId);
    },
  });

  const erasure = createIdentityErasure({
    storage,
    changes,
    audit,
    remove: (identityId) => deletion.delete([identityId]),
    reviewAfter,
  });

  /** @throws identityErrors.emailTaken, providerTaken */
  function create({
    id = newId(storage.clock),
    ...given
  }: NewIdentity & Pick<IdentityRecord, 'providers'>): Promise<ShownIdentity> {
    return withUniqueValues(async () => {
      const record = await Identities.create({ _id: id, ...given });
      return show(record.toObject());
    });
  }

  async function patchOne(
    identityId: string,
    patch: IdentityPatch & HostGiven,
    by: RequestFacts,
    open?: Fence['open'],
  ): Promise<IdentityRecord> {
    function recordChange(): Promise<void> {
      // the person reads these events
      const { hostFields, ...shown } = withoutPrivate(patch);
      const fields = Object.keys({ ...shown, ...hostFields });
      const details = { fields, ...(patch.typeId !== undefined && { typeId: patch.typeId }) };
      return audit.record('identity.changed', by, { identityId, details });
    }
    const { email, ...given } = givenOf(patch);
    const own = { _id: identityId, ...open, ...roomFor(given) };
    const missing = async () => {
      await refuseTooManyKeys(Identities, identityId, given);
      return identityErrors.notFound();
    };
    if (email === undefined) {
      if (Object.keys(given).length === 0) throw identityErrors.nothingToUpdate();
      const changed = await changes.tryChange(own, given as Partial<IdentityRecord>);
      if (!changed) throw await missing();
      await recordChange();
      return changed;
    }
    // one write for both cases: an unchanged address keeps its verification
    const isVerified = { $and: [{ $eq: ['$email', { $literal: email }] }, '$emailVerified'] };
    const isOther = { $ne: ['$email', { $literal: email }] };
    const raised = { $add: [{ $ifNull: ['$onetimeEpoch', 0] }, { $cond: [isOther, 1, 0] }] };
    const other = withFormer(email, storage.clock.now());
    const set = { emailVerified: isVerified, onetimeEpoch: raised, ...changedFields(given), ...other };
    return withUniqueValues(async () => {
      const options = { returnDocument: 'after', updatePipeline: true } as const;
      const record = await Identities.findOneAndUpdate(own, [{ $set: set }], options).lean<IdentityRecord>();
      if (!record) throw await missing();
      announce(identityId);
      await recordChange();
      return record;
    });
  }

  return {
    ...lookups,
    ...createIdentityCredentials(storage, changes),
    ...erasure,
    /** Second factors. */
    factors: createIdentityFactors(storage, { announce, relay }),
    /** Accounts at identity providers. */
    providerAccounts: createProviderAccounts(storage, { announce, relay }),
    /** Queues the mails that dead processes left behind. */
    relayMails: relayAll,

    /** @throws identityErrors.emailTaken when a live identity has the address */
    create: (given: NewIdentity): Promise<ShownIdentity> => create(given),

    /**
     * Creates an identity that signs in with a provider account.
     * @returns its id, and the id of the link
     * @throws identityErrors.emailTaken when a live identity has the address, providerTaken when one has the account
     */
    async createByAccount(given: NewIdentity, account: ProviderAccount): Promise<{ id: string; linkId: string }> {
      const link = toLinked(account, storage.clock);
      return { id: (await create({ ...given, providers: [link] })).id, linkId: link.id };
    },

    /** Whether an identity was ever stored under this id, even if it is deleted now. */
    async wasCreated(identityId: string): Promise<boolean> {
      return (await Identities.exists({ _id: identityId }).setOptions({ deleted: 'include' })) !== null;
    },

    /** Removes an identity that an undone unit of work had created. Nobody has signed in to it. */
    async uncreate(identityId: string, createdAt?: Date): Promise<void> {
      await Identities.deleteOne({ _id: identityId, ...(createdAt && { createdAt }) }).setOptions({
        deleted: 'include',
        hard: true,
      });
    },

    /** Whether an identity has proved its email address. */
    async isEmailVerified(identityId: string): Promise<boolean> {
      return (await Identities.exists({ _id: identityId, emailVerified: true })) !== null;
    },

    async isEmailTaken(email: string): Promise<boolean> {
      return (await Identities.exists({ email })) !== null;
    },

    /** @throws identityErrors.notFound */
    async get(identityId: string, query?: ReadQuery): Promise<Identity> {
      return lists.find(identityList, Identities, { _id: identityId }, { show: showRead }, identityErrors.notFound, query);
    },

    list(query: ListQuery): Promise<ListAnswer<Identity>> {
      return lists.answer(identityList, Identities, { show: showRead }, query);
    },

    /**
     * Changes the given fields. A changed email becomes unverified, unless the same patch says otherwise (decisions A8).
     * @throws identityErrors.nothingToUpdate for an empty change, notFound, emailTaken; serviceAccount for the email or type of one,
     * which never signs in and whose keys others make
     */
    async patch(identityId: string, patch: IdentityPatch, by = NO_REQUEST): Promise<Identity> {
      const isOfPeople = (['email', 'emailVerified', 'typeId'] as const).some((field) => patch[field] !== undefined);
      if (isOfPeople && (await lookups.serviceAccountOf(identityId)) !== undefined) throw identityErrors.serviceAccount();
      const run = (open?: Fence['open']) => patchOne(identityId, patch, by, open);
      const changed = await (patch.typeId === undefined ? run() : reviewAfter([identityId], run));
      // only after the review, so that a stored change is reviewed even if the record cannot be shown
      return showOne(changed, identityErrors.notFound);
    },

    /** Soft-deletes an identity with its profiles and ends all its sessions and keys. @throws identityErrors.notFound */
    async delete(identityId: string, by = NO_REQUEST): Promise<void> {
      await deletion.delete([identityId]);
      await audit.record('identity.deleted', by, { identityId });
    },

    /**
     * @throws identityErrors.notFound when there is nothing to restore; emailTaken, providerTaken when another identity has them
     * now; organizationErrors.notFound for a service account of a deleted organization
     */
    async restore(identityId: string, by = NO_REQUEST): Promise<Identity> {
      await withUniqueValues(() => deletion.restore(identityId));
      announce(identityId);
      await audit.record('identity.restored', by, { identityId });
      return this.get(identityId);
    },

    /** Locks the identity until it is unlocked, ends all sessions and keys, voids one-time tokens. @throws identityErrors.notFound */
    async lock(identityId: string, by = NO_REQUEST): Promise<void> {
      await reviewAfter([identityId], (open) => change(identityId, { locked: true }, CLOSED, open));
      await audit.record('identity.locked', by, { identityId });
    },

    /** @returns the identity's email; a service account has none. @throws identityErrors.notFound */
    async unlock(identityId: string, by = NO_REQUEST): Promise<{ email: string | undefined }> {
      const { email } = await change(identityId, { locked: false });
      await audit.record('identity.unlocked', by, { identityId });
      return { email };
    },

    /** Ends all sessions of an identity. A missing identity is no error. */
    async endSessions(identityId: string, by = NO_REQUEST): Promise<void> {
      try {
        await change(identityId, {}, { endSessions: true });
        await audit.record('sessions.ended', by, { identityId });
      } catch (error) {
        if (!identityErrors.notFound.matches(error)) throw error;
      }
    },

    /**
     * Deactivates the identity until it is activated, ends all sessions and keys, voids one-time tokens. Sends a mail if the identity
     * did it itself.
     * @throws identityErrors.notFound
     */
    async deactivate(identityId: string, by = NO_REQUEST): Promise<void> {
      const mail = by.actorId === identityId ? ({ template: 'deactivated', identityId } as const) : undefined;
      const consequences = { ...CLOSED, mail };
      const now = storage.clock.now();
      await reviewAfter([identityId], (open) => change(identityId, { deactivatedAt: now }, consequences, open));
      await audit.record('identity.deactivated', by, { identityId });
    },

    /** @throws identityErrors.notFound, erasing */
    async activate(identityId: string, by = NO_REQUEST): Promise<void> {
      const stays = { $expr: { $lte: ['$eraseAt', null] } };
      const activated = await changes.tryChange({ _id: identityId, ...stays }, { deactivatedAt: null });
      if (!activated)
        throw (await lookups.existing([identityId])).size > 0 ? identityErrors.erasing() : identityErrors.notFound();
      await audit.record('identity.activated', by, { identityId });
    },

    async hasAnyOf(typeId: string): Promise<boolean> {
      return (await Identities.exists({ typeId })) !== null;
    },
  };
}
