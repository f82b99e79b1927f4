import type { EventBus } from '@tandem/core';
import { isDuplicateKey, newId, type Fence, type Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { changedFields } from '../shared/changes.js';
import { toState, type AccessState, type JudgedSession } from './access-state.js';
import { factorsWhere, isConfirmed } from './factor-records.js';
import { identityErrors } from './identities.errors.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

export type IdentityChanges = ReturnType<typeof createIdentityChanges>;

/** Published when an identity's state has changed or all its sessions have ended, so that copies of it are dropped. */
export const IDENTITY_CHANGED = 'identities.changed';
export interface IdentityChanged {
  identityId: string;
}

export interface IdentityChangesOptions {
  storage: Storage;
  bus: EventBus;
  /**
   * Removes the identity's sessions and keys of earlier epochs, which have ended. Those of the current epoch may have begun
   * already. Must not throw.
   */
  removeSessions(identityId: string, state: AccessState): Promise<void>;
  /** Queues an identity's mails. Must not throw. */
  relay(identityId: string): Promise<void>;
}

/** A session as it was read. It may have ended by the time of the write. */
export type SessionRef = JudgedSession;

/** Side effects of a change, made in the same write. */
export interface Consequences {
  endSessions?: boolean | { but: SessionRef };
  /** Ends the API keys too. */
  endKeys?: boolean;
  voidTokens?: boolean;
  /** Removes the provider links and ends the sessions that came by them; either always, or only if the address was unverified. */
  unlink?: 'all' | 'if unverified';
  /** Removes passkeys, which sign in like a provider: those added while the address was unverified, or all unless a session is live. */
  removePasskeys?: 'unproved' | { unlessBy: SessionRef | undefined };
  /** The address is proved: passkeys added before are its owner's if this session is live; else they are perhaps a stranger's. */
  provePasskeys?: { by: SessionRef | undefined };
  mail?: QueuedMail | undefined;
}

export const IS_VERIFIED = { $eq: ['$emailVerified', true] };

const raised = (field: string) => ({ $add: [{ $ifNull: [`$${field}`, 0] }, 1] });

/** `countsSession` as an expression over the identity's record, for writes that require a live session. */
export function countsInWrite({ _id, epoch, linkId = null }: SessionRef) {
  const isOfEpoch = { $eq: [{ $ifNull: ['$sessionEpoch', 0] }, epoch] };
  const isLinked = linkId === null || { $in: [linkId, { $ifNull: ['$providers.id', []] }] };
  return { $or: [{ $eq: ['$sparedSessionId', _id] }, { $and: [isOfEpoch, isLinked] }] };
}

const isLive = (session: SessionRef | undefined) => (session ? countsInWrite(session) : false);

const IS_NO_PASSKEY = { $ne: ['$$one.type', 'passkey'] };

/** A condition for `factorsWhere`: whether a factor stays. */
function isKept(removal: NonNullable<Consequences['removePasskeys']>): object {
  const isPasskeyKept =
    removal === 'unproved' ? { $and: [IS_VERIFIED, { $ne: ['$$one.unproved', true] }] } : isLive(removal.unlessBy);
  return { $or: [IS_NO_PASSKEY, isPasskeyKept] };
}

/** The same factors, with passkeys marked as proved or not. */
function marked(factors: object, areProved: object | boolean): object {
  const value = { $cond: [{ $or: [IS_NO_PASSKEY, areProved] }, '$$REMOVE', true] };
  return { $map: { input: factors, as: 'one', in: { $setField: { field: 'unproved', input: '$$one', value } } } };
}

/** How many former addresses are kept. */
const FORMER_MAX = 20;

/** What a change to an address sets: the one before it is kept. */
export function withFormer(email: string, now: Date) {
  const isOther = { $and: [{ $gt: ['$email', ''] }, { $ne: ['$email', { $literal: email }] }] };
  const former = { $concatArrays: [{ $ifNull: ['$formerEmails', []] }, [{ email: '$email', until: now }]] };
  const kept = { $ifNull: ['$formerEmails', '$$REMOVE'] };
  return {
    email: { $literal: email },
    formerEmails: { $cond: [isOther, { $slice: [former, -FORMER_MAX] }, kept] },
  };
}

/** The id of the session to spare, if it is still live. */
function sparing(session: SessionRef) {
  return { $cond: [countsInWrite(session), session._id, null] };
}

/** A filter for an epoch. A record without one has epoch 0. */
export function isEpoch(epoch: number) {
  return { onetimeEpoch: epoch === 0 ? { $in: [0, null] } : epoch } as const;
}

/** @throws identityErrors.emailTaken, providerTaken in place of a duplicate-key error */
export async function withUniqueValues<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const duplicate = isDuplicateKey(error);
    if (!duplicate) throw error;
    const isOfProvider = duplicate.fields.includes('providers.key');
    throw identityErrors[isOfProvider ? 'providerTaken' : 'emailTaken']({ cause: error });
  }
}

/** What a change requires of the identity. */
type Condition = {
  _id: string;
  email?: string;
  emailVerified?: { $ne: true };
  restoration?: string;
  $expr?: object;
  $and?: object[];
} & Partial<ReturnType<typeof isEpoch>>;

/** All changes of identities' states go through this module. */
export function createIdentityChanges({ storage, bus, removeSessions, relay }: IdentityChangesOptions) {
  const Identities = storage.model(identityModel);

  function announce(identityId: string): void {
    bus.publish(IDENTITY_CHANGED, { identityId } satisfies IdentityChanged);
  }

  /**
   * Changes a live identity in one atomic write, which also ends sessions and keys, voids one-time tokens, removes providers and
   * passkeys, and stores mails.
   * @returns undefined when no identity matches
   */
  async function tryChange(
    filter: Condition,
    set: Partial<IdentityRecord>,
    { endSessions = false, endKeys = false, voidTokens = false, unlink, removePasskeys, provePasskeys, mail }: Consequences = {},
  ): Promise<IdentityRecord | undefined> {
    const now = storage.clock.now();
    const kept = removePasskeys && isKept(removePasskeys);
    const queued = mail && { $literal: [{ id: newId(storage.clock), ...mail }] };
    const changes = {
      ...changedFields(set),
      ...(set.email !== undefined && withFormer(set.email, now)),
      ...(endSessions && {
        sessionEpoch: raised('sessionEpoch'),
        sparedSessionId: endSessions === true ? null : sparing(endSessions.but),
      }),
      ...(endKeys && { keyEpoch: raised('keyEpoch') }),
      ...(voidTokens && { onetimeEpoch: raised('onetimeEpoch') }),
      ...(unlink && {
        providers: unlink === 'all' ? '$$REMOVE' : { $cond: [IS_VERIFIED, '$providers', '$$REMOVE'] },
      }),
      ...(kept && {
        factors: removePasskeys === 'unproved' ? factorsWhere(kept) : marked(factorsWhere(kept), true),
        recoveryCodes: { $cond: [{ $ne: [factorsWhere(kept, isConfirmed), []] }, '$recoveryCodes', '$$REMOVE'] },
      }),
      ...(provePasskeys && { factors: marked(factorsWhere(), isLive(provePasskeys.by)) }),
      ...(queued && { outbox: { $concatArrays: [{ $ifNull: ['$outbox', []] }, queued] }, outboxAt: now }),
    };
    const record = await Identities.findOneAndUpdate(filter, [{ $set: changes }], {
      returnDocument: 'after',
      updatePipeline: true,
    })
      .select('+sessionEpoch +keyEpoch +sparedSessionId +providers')
      .lean<IdentityRecord>();
    if (!record) return undefined;
    announce(filter._id);
    if (mail) await relay(filter._id);
    if (endSessions) await removeSessions(filter._id, toState(record));
    return record;
  }

  /** @param open condition of the enclosing unit of work, if any @throws identityErrors.notFound */
  async function change(
    identityId: string,
    set: Partial<IdentityRecord>,
    consequences?: Consequences,
    open?: Fence['open'],
  ): Promise<IdentityRecord> {
    const changed = await tryChange({ _id: identityId, ...open }, set, consequences);
    if (!changed) throw identityErrors.notFound();
    return changed;
  }

  return { announce, tryChange, change };
}
