import type { EventBus } from '@tandem/core';
import { isDuplicateKey, newId, type Storage } from '@tandem/storage';
import type { QueuedMail } from '../mail/queued-mail.js';
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
  removeSessions(identityId: string, before: number): Promise<void>;
  /** Puts an identity's mails into the queue; must not fail. */
  relay(identityId: string): Promise<void>;
}

/** What a change of an identity brings with it. */
export interface Consequences {
  endSessions?: boolean;
  voidTokens?: boolean;
  mail?: QueuedMail | undefined;
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
type Condition = { _id: string; email?: string; emailVerified?: { $ne: true }; deletionId?: string } & Partial<
  ReturnType<typeof isEpoch>
>;

/** The one way in which states of identities change. */
export function createIdentityChanges({ storage, bus, removeSessions, relay }: IdentityChangesOptions) {
  const Identities = storage.model(identityModel);

  function announce(identityId: string): void {
    bus.publish(IDENTITY_CHANGED, { identityId } satisfies IdentityChanged);
  }

  /**
   * One atomic change of one live identity, with all that follows from it: sessions end and one-time tokens are void in the same write,
   * and mails about it are stored by it.
   * @returns undefined when there is no such identity
   */
  async function tryChange(
    filter: Condition,
    set: Partial<IdentityRecord>,
    { endSessions = false, voidTokens = false, mail }: Consequences = {},
  ): Promise<IdentityRecord | undefined> {
    const now = storage.clock.now();
    const update = {
      $set: { ...set, ...(mail && { outboxAt: now }) },
      $inc: { ...(endSessions && { sessionEpoch: 1 }), ...(voidTokens && { onetimeEpoch: 1 }) },
      ...(mail && { $push: { outbox: { id: newId(storage.clock), ...mail } } }),
    };
    const record = await Identities.findOneAndUpdate(filter, update, { returnDocument: 'after' })
      .select('+sessionEpoch')
      .lean<IdentityRecord>();
    if (!record) return undefined;
    announce(filter._id);
    if (mail) await relay(filter._id);
    if (endSessions) await removeSessions(filter._id, record.sessionEpoch);
    return record;
  }

  /** @throws identityErrors.notFound */
  async function change(identityId: string, set: Partial<IdentityRecord>, consequences?: Consequences): Promise<IdentityRecord> {
    const changed = await tryChange({ _id: identityId }, set, consequences);
    if (!changed) throw identityErrors.notFound();
    return changed;
  }

  return { announce, tryChange, change };
}
