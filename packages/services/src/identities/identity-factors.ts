import { authenticationErrors } from '@tandem/core';
import { isDuplicateKey, newId, type Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { countsSession, toState } from './access-state.js';
import { enrolled, factorsWhere, isConfirmed, type Factor, type PasskeyFactor, type TotpFactor } from './factor-records.js';
import { identityErrors } from './identities.errors.js';
import { IS_VERIFIED, countsInWrite, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

/** Most factors of an identity, unconfirmed ones included (decisions F1). */
export const MAX_FACTORS = 10;

const FIELDS = { email: 1, factors: 1, recoveryCodes: 1 } as const;
export type FactorsRecord = Pick<IdentityRecord, '_id' | 'email' | 'factors' | 'recoveryCodes'>;

/** How the removal of a factor ended. */
export type Removal = { removed: Factor } | { refused: 'missing' | 'last' };

export type IdentityFactors = ReturnType<typeof createIdentityFactors>;

/** The second factors in identities' records. Every change is one atomic write (decisions F1, F3). */
export function createIdentityFactors(
  storage: Storage,
  { announce, relay }: Pick<IdentityChanges, 'announce'> & { relay(identityId: string): Promise<void> },
) {
  const Identities = storage.model(identityModel);

  /** What a write sets so that its mail is sent. @param when a condition on the record as it was */
  function mailing(identityId: string, mail: QueuedMail | undefined, when: object): object {
    if (!mail) return {};
    const queued = { $literal: [{ id: newId(storage.clock), identityId, ...mail }] };
    return {
      outbox: { $cond: [when, { $concatArrays: [{ $ifNull: ['$outbox', []] }, queued] }, '$outbox'] },
      outboxAt: { $cond: [when, storage.clock.now(), '$outboxAt'] },
    };
  }

  /** One write; undefined when the identity does not meet the conditions. Returns the record as it was. */
  async function write(
    identityId: string,
    conditions: object,
    set: object,
    { mail, mailedWhen = { $literal: true } }: { mail?: QueuedMail | undefined; mailedWhen?: object } = {},
  ): Promise<FactorsRecord | undefined> {
    const filter = { _id: identityId, serviceAccountOf: null, ...conditions };
    const update = [{ $set: { ...set, ...mailing(identityId, mail, mailedWhen) } }];
    const before = await Identities.findOneAndUpdate(filter, update, {
      returnDocument: 'before',
      updatePipeline: true,
      projection: FIELDS,
      // no answer shows factors, so they are no change of the identity
      timestamps: false,
    }).lean<IdentityRecord>();
    if (!before) return undefined;
    announce(identityId);
    if (mail) await relay(identityId);
    return before;
  }

  /** Notes a use. By the driver, since a use is no change of the identity: it raises neither version nor `updatedAt`. */
  const use = (filter: object, update: object) => Identities.collection.updateOne({ ...filter, deletedAt: null }, update);

  /** Why a session's write matched nothing. @throws identityErrors.notFound, authenticationErrors.unverified */
  async function refuseEnded(identityId: string, session: SessionRef): Promise<void> {
    const record = await Identities.findById(identityId)
      .select('+sessionEpoch +sparedSessionId +providers')
      .lean<IdentityRecord>();
    if (!record) throw identityErrors.notFound();
    if (!countsSession(toState(record), session)) throw authenticationErrors.unverified();
  }

  return {
    /** The factors and recovery codes of a live person; undefined for other ids. */
    async read(identityId: string): Promise<FactorsRecord | undefined> {
      const filter = { _id: identityId, serviceAccountOf: null };
      return (await Identities.findOne(filter, FIELDS).lean<FactorsRecord>()) ?? undefined;
    },

    /** The live identity with a passkey, and the passkey, by the id of its credential. */
    async byKey(key: string): Promise<{ identityId: string; passkey: PasskeyFactor } | undefined> {
      const projection = { factors: { $elemMatch: { key } } };
      const record = await Identities.findOne({ 'factors.key': key }, projection).lean<IdentityRecord>();
      const [passkey] = record?.factors ?? [];
      return record && passkey?.type === 'passkey' ? { identityId: record._id, passkey } : undefined;
    },

    /**
     * Adds a factor, in place of unconfirmed ones whose time is over.
     * @param session the one that asks: the write requires it to be live, so that a reset of the password, which ends it, leaves no
     * factor of a thief behind
     * @returns 'taken' for a passkey that is somebody's already, 'full' beyond the limit
     * @throws identityErrors.notFound; authenticationErrors.unverified when the session has ended
     */
    async add(identityId: string, factor: Factor, session: SessionRef, mail?: QueuedMail): Promise<'added' | 'taken' | 'full'> {
      const live = factorsWhere({ $or: [isConfirmed, { $gt: ['$$one.pendingUntil', storage.clock.now()] }] });
      const hasRoom = { $lt: [{ $size: live }, MAX_FACTORS] };
      const conditions = { $expr: { $and: [hasRoom, countsInWrite(session)] } };
      const added = {
        $mergeObjects: [
          { $literal: factor },
          { $cond: [{ $or: [IS_VERIFIED, factor.type !== 'passkey'] }, {}, { unproved: true }] },
        ],
      };
      const set = { factors: { $concatArrays: [live, [added]] } };
      try {
        if (await write(identityId, conditions, set, { mail })) return 'added';
      } catch (error) {
        if (isDuplicateKey(error)) return 'taken';
        throw error;
      }
      await refuseEnded(identityId, session);
      return 'full';
    },

    /**
     * Makes an unconfirmed factor count, whose code is used by that. Of concurrent calls one succeeds.
     * @returns whether it was waiting for this
     * @throws authenticationErrors.unverified when the session has ended; identityErrors.notFound
     */
    async confirm(identityId: string, factorId: string, step: number, session: SessionRef, mail: QueuedMail): Promise<boolean> {
      const now = storage.clock.now();
      const confirmed = { step, lastUsedAt: now };
      const set = {
        factors: {
          $map: {
            input: '$factors',
            as: 'one',
            in: {
              $cond: [
                { $eq: ['$$one.id', { $literal: factorId }] },
                { $unsetField: { field: 'pendingUntil', input: { $mergeObjects: ['$$one', { $literal: confirmed }] } } },
                '$$one',
              ],
            },
          },
        },
      };
      const conditions = {
        factors: { $elemMatch: { id: factorId, pendingUntil: { $gt: now } } },
        $expr: countsInWrite(session),
      };
      if (await write(identityId, conditions, set, { mail })) return true;
      await refuseEnded(identityId, session);
      return false;
    },

    /** Uses the code of a time step once. @returns false when it, or that of a later one, was used before */
    async useStep(identityId: string, { id }: TotpFactor, step: number, resealed: Partial<TotpFactor> = {}): Promise<boolean> {
      const used = Object.entries({ step, lastUsedAt: storage.clock.now(), ...resealed });
      const { matchedCount } = await use(
        { _id: identityId, factors: { $elemMatch: { id, step: { $lt: step }, pendingUntil: { $exists: false } } } },
        { $set: Object.fromEntries(used.map(([field, value]) => [`factors.$.${field}`, value])) },
      );
      return matchedCount > 0;
    },

    /** Notes a use of a passkey. @returns false when its counter is not higher than at an earlier use */
    async usePasskey(identityId: string, { id }: PasskeyFactor, counter: number): Promise<boolean> {
      const isNew = counter === 0 ? 0 : { $lt: counter };
      const { matchedCount } = await use(
        { _id: identityId, factors: { $elemMatch: { id, counter: isNew } } },
        { $set: { 'factors.$.counter': counter, 'factors.$.lastUsedAt': storage.clock.now() } },
      );
      return matchedCount > 0;
    },

    /** Uses a recovery code once. @returns false when the identity has none with this hash */
    async useRecoveryCode(identityId: string, hash: string): Promise<boolean> {
      const { matchedCount } = await use({ _id: identityId, recoveryCodes: hash }, { $pull: { recoveryCodes: hash } });
      return matchedCount > 0;
    },

    /**
     * Replaces the recovery codes.
     * @returns false without a factor that they could stand in for
     * @throws authenticationErrors.unverified when the session has ended; identityErrors.notFound
     */
    async setRecoveryCodes(identityId: string, hashes: string[], session: SessionRef, mail?: QueuedMail): Promise<boolean> {
      const hasFactor = { $gt: [{ $size: factorsWhere(isConfirmed) }, 0] };
      const conditions = { $expr: { $and: [hasFactor, countsInWrite(session)] } };
      if (await write(identityId, conditions, { recoveryCodes: { $literal: hashes } }, { mail })) return true;
      await refuseEnded(identityId, session);
      return false;
    },

    /**
     * Removes a factor, and with the last one the recovery codes.
     * @param mayBeLast whether no other one has to remain
     * @param mail sent if the factor counted
     */
    async remove(identityId: string, factorId: string, mayBeLast: boolean, mail: QueuedMail): Promise<Removal> {
      const isOther = { $ne: ['$$one.id', { $literal: factorId }] };
      const others = { $size: factorsWhere(isOther, isConfirmed) };
      const set = {
        factors: factorsWhere(isOther),
        recoveryCodes: { $cond: [{ $gt: [others, 0] }, '$recoveryCodes', '$$REMOVE'] },
      };
      const isPending = { factors: { $elemMatch: { id: factorId, pendingUntil: { $exists: true } } } };
      const oneRemains = { $or: [{ $expr: { $gt: [others, 0] } }, isPending] };
      const filter = { 'factors.id': factorId, ...(!mayBeLast && oneRemains) };
      const counted = factorsWhere({ $eq: ['$$one.id', { $literal: factorId }] }, isConfirmed);
      const before = await write(identityId, filter, set, { mail, mailedWhen: { $gt: [{ $size: counted }, 0] } });
      const removed = before?.factors?.find(({ id }) => id === factorId);
      if (removed) return { removed };
      const record = await this.read(identityId);
      return { refused: record && enrolled(record).some(({ id }) => id === factorId) ? 'last' : 'missing' };
    },

    /** Removes all factors and recovery codes. @param mail sent if one counted. @returns how many factors there were; undefined for an id of no live person */
    async removeAll(identityId: string, mail: QueuedMail): Promise<number | undefined> {
      const any = { 'factors.0': { $exists: true } };
      const mailedWhen = { $gt: [{ $size: factorsWhere(isConfirmed) }, 0] };
      const before = await write(identityId, any, { factors: '$$REMOVE', recoveryCodes: '$$REMOVE' }, { mail, mailedWhen });
      const record = before ?? (await this.read(identityId));
      return record && enrolled(record).length;
    },

    /** How many people have an authenticator app whose secret another key than this one sealed. */
    countSealedByOthers(keyId: string): Promise<number> {
      return Identities.countDocuments({ factors: { $elemMatch: { sealedBy: { $exists: true, $ne: keyId } } } });
    },
  };
}
