import type { EventBus } from '@tandem/core';
import { isDuplicateKey, newId, type Fence, type Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
import { toState, type AccessState, type JudgedSession } from './access-state.js';
import { identityErrors } from './identities.errors.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

export type IdentityChanges = ReturnType<typeof createIdentityChanges>;

/** Published when all sessions of an identity have ended, or its state has changed: copies of it are out of date. */
export const IDENTITY_CHANGED = 'identities.changed';
export interface IdentityChanged {
  identityId: string;
}

export interface IdentityChangesOptions {
  storage: Storage;
  bus: EventBus;
  /** Removes the sessions of an identity of epochs before this one, which have ended; must not fail. Later ones may have begun already. */
  removeSessions(identityId: string, state: AccessState): Promise<void>;
  /** Puts an identity's mails into the queue; must not fail. */
  relay(identityId: string): Promise<void>;
}

/** A session as it was read: it may have ended when a change is written. */
export type SessionRef = JudgedSession;

/** What a change of an identity brings with it. */
export interface Consequences {
  endSessions?: boolean | { but: SessionRef };
  voidTokens?: boolean;
  /** Ends all signing in through providers, and the sessions that came by one; or only where the address was unverified before. */
  unlink?: 'all' | 'if unverified';
  mail?: QueuedMail | undefined;
}

/** Values of an update pipeline, which would else be read as expressions. */
export function literals(values: object): Record<string, { $literal: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value as unknown }]));
}

const raised = (field: string) => ({ $add: [{ $ifNull: [`$${field}`, 0] }, 1] });

/** `countsSession` as an expression over the record of the identity, for a write that is done only while the session counts. */
export function countsInWrite({ _id, epoch, linkId = null }: SessionRef) {
  const isOfEpoch = { $eq: [{ $ifNull: ['$sessionEpoch', 0] }, epoch] };
  const isLinked = linkId === null || { $in: [linkId, { $ifNull: ['$providers.id', []] }] };
  return { $or: [{ $eq: ['$sparedSessionId', _id] }, { $and: [isOfEpoch, isLinked] }] };
}

/** The session that goes on, unless it has ended meanwhile. */
function sparing(session: SessionRef) {
  return { $cond: [countsInWrite(session), session._id, null] };
}

/** A filter for an epoch; records may lack theirs, which is 0 then. */
export function isEpoch(epoch: number) {
  return { onetimeEpoch: epoch === 0 ? { $in: [0, null] } : epoch } as const;
}

/** @throws identityErrors.emailTaken, providerTaken instead of the store's duplicate key */
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

/** What a change asks of the identity it changes. */
type Condition = { _id: string; email?: string; emailVerified?: { $ne: true }; deletionId?: string; $expr?: object } & Partial<
  ReturnType<typeof isEpoch>
>;

/** The one way in which states of identities change. */
export function createIdentityChanges({ storage, bus, removeSessions, relay }: IdentityChangesOptions) {
  const Identities = storage.model(identityModel);

  function announce(identityId: string): void {
    bus.publish(IDENTITY_CHANGED, { identityId } satisfies IdentityChanged);
  }

  /**
   * One atomic change of one live identity, with all that follows from it: sessions end, one-time tokens are void and providers are removed
   * in the same write, and mails about it are stored by it.
   * @returns undefined when there is no such identity
   */
  async function tryChange(
    filter: Condition,
    set: Partial<IdentityRecord>,
    { endSessions = false, voidTokens = false, unlink, mail }: Consequences = {},
  ): Promise<IdentityRecord | undefined> {
    const now = storage.clock.now();
    const queued = mail && { $literal: [{ id: newId(storage.clock), ...mail }] };
    const changes = {
      ...literals(set),
      ...(endSessions && {
        sessionEpoch: raised('sessionEpoch'),
        sparedSessionId: endSessions === true ? null : sparing(endSessions.but),
      }),
      ...(voidTokens && { onetimeEpoch: raised('onetimeEpoch') }),
      ...(unlink && {
        providers: unlink === 'all' ? '$$REMOVE' : { $cond: [{ $eq: ['$emailVerified', true] }, '$providers', '$$REMOVE'] },
      }),
      ...(queued && { outbox: { $concatArrays: [{ $ifNull: ['$outbox', []] }, queued] }, outboxAt: now }),
    };
    const record = await Identities.findOneAndUpdate(filter, [{ $set: changes }], {
      returnDocument: 'after',
      updatePipeline: true,
    })
      .select('+sessionEpoch +sparedSessionId +providers')
      .lean<IdentityRecord>();
    if (!record) return undefined;
    announce(filter._id);
    if (mail) await relay(filter._id);
    if (endSessions) await removeSessions(filter._id, toState(record));
    return record;
  }

  /** @param open of the unit of work that it belongs to, if any @throws identityErrors.notFound */
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
