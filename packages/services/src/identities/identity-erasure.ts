import { PURGING, type Fence, type NamedPerson, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import { identityErrors as errors } from './identities.errors.js';
import type { Consequences, IdentityChanges } from './identity-changes.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

/** From the deactivation to the second round, in milliseconds: all requests that began before have been answered by then. */
const SECOND_ROUND_MS = 20_000;
/** Between two rounds at least: those who follow the log of events have done so. */
const ROUNDS_MS = 2000;
/** Until the last round, which also removes what stands for the identity. */
const LAST_ROUND_MS = 10 * 60_000;

/** An erasure that is due. */
export interface DueErasure {
  identityId: string;
  /** Rounds that were made. */
  round: number;
}

type Addresses = Required<Omit<NamedPerson, 'id'>>;

interface ErasingOptions {
  storage: Storage;
  changes: IdentityChanges;
  audit: AuditService;
  /** Deletes a live identity with what belongs to it. @throws errors.notFound */
  remove(identityId: string): Promise<void>;
  reviewAfter<T>(identityIds: readonly string[], change: (open: Fence['open']) => Promise<T>): Promise<T>;
}

/** A record that is neither the shell of one nor about to tell of a change. */
const SETTLED = { 'trace.since': { $exists: false } };

/** What becomes of an identity that is erased (decisions F8). Its own record says so, and goes last. */
export function createIdentityErasure({ storage, changes, audit, remove, reviewAfter }: ErasingOptions) {
  const Identities = storage.model(identityModel);
  const { collection } = Identities;
  const later = (milliseconds: number) => new Date(storage.clock.now().getTime() + milliseconds);

  async function find(identityId: string, filter: object = {}): Promise<IdentityRecord | undefined> {
    const found = await collection.findOne({ _id: identityId, [PURGING]: null, ...filter } as object);
    return (found as unknown as IdentityRecord | null) ?? undefined;
  }

  /** The addresses that an identity has or had; of those that it never proved anybody could say that they are its own. */
  async function everHad(identityId: string, { email, emailVerified }: Partial<IdentityRecord>): Promise<Addresses> {
    const had = (among?: object) => storage.people.emailsOf('identity', identityId, among);
    const now = email ? [email] : [];
    const proved = new Set([...(emailVerified ? now : []), ...(await had({ 'state.emailVerified': true }))]);
    const all = new Set([...now, ...(await had())]);
    return { emails: [...proved], unproved: [...all].filter((one) => !proved.has(one)) };
  }

  /** The addresses without those that another live identity has: what names these is that one's. @param among these others */
  async function ownAmong({ emails, unproved }: Addresses, identityId: string, among: object = {}): Promise<Addresses> {
    const others = { _id: { $ne: identityId }, email: { $in: [...emails, ...unproved] }, ...among };
    const taken = await Identities.find(others, { email: 1 }).lean<IdentityRecord[]>();
    const isFree = (one: string) => !taken.some(({ email }) => email === one);
    return { emails: emails.filter(isFree), unproved: unproved.filter(isFree) };
  }

  return {
    /**
     * Deactivates an identity, and lets it be erased after a while; one that is deleted too.
     * @returns when, and whether this call said so
     * @throws errors.notFound
     */
    async scheduleErasure(
      identityId: string,
      delayMs: number,
      consequences: Consequences,
      by: RequestFacts,
    ): Promise<{ eraseAt: Date; isNew: boolean }> {
      const eraseAt = later(delayMs);
      const set = { deactivatedAt: storage.clock.now(), eraseAt };
      const isScheduled = await reviewAfter([identityId], async ({ $expr }) => {
        const open = { $expr: { $and: [$expr, { $lte: ['$eraseAt', null] }] } };
        if (await changes.tryChange({ _id: identityId, ...open }, set, consequences)) return true;
        const deleted = { _id: identityId, deletedAt: { $ne: null }, eraseAt: null, [PURGING]: null, ...open } as object;
        // restored meanwhile, it is deactivated as all that wait for their erasure
        return (await collection.updateOne(deleted, { $set: set })).matchedCount > 0;
      });
      if (isScheduled) {
        await audit.record('erasure.requested', by, { identityId });
        return { eraseAt, isNew: true };
      }
      const found = await find(identityId);
      if (!found?.eraseAt) throw errors.notFound();
      return { eraseAt: found.eraseAt, isNew: false };
    },

    /** Takes an erasure back that has not begun, and activates the identity; a deleted one stays so. @throws errors.notErased */
    async cancelErasure(identityId: string, by: RequestFacts, eraseAt: Date | { $ne: null } = { $ne: null }): Promise<void> {
      const waiting = { _id: identityId, eraseAt, 'erasure.begunAt': null, [PURGING]: null } as object;
      const { matchedCount } = await collection.updateOne(waiting, { $set: { eraseAt: null, deactivatedAt: null } });
      if (matchedCount === 0) throw errors.notErased();
      changes.announce(identityId);
      await audit.record('erasure.cancelled', by, { identityId });
    },

    /** Those of the given identities that live and are not about to be erased. */
    async staying(identityIds: readonly string[]): Promise<Set<string>> {
      const found = await Identities.find({ _id: { $in: identityIds }, eraseAt: null }, { _id: 1 }).lean<IdentityRecord[]>();
      return new Set(found.map(({ _id }) => _id));
    },

    /** Lets identities that are deleted be erased now. From then on nobody can restore them. */
    async eraseDeleted(identityIds: readonly string[]): Promise<void> {
      const which = { _id: { $in: identityIds }, deletedAt: { $ne: null }, eraseAt: null } as object;
      await collection.updateMany(which, { $set: { eraseAt: storage.clock.now(), [PURGING]: true } });
    },

    /** The erasure that has been due longest. */
    async dueErasure(now: Date, except: readonly string[]): Promise<DueErasure | undefined> {
      const due = { eraseAt: { $gt: new Date(0), $lte: now }, _id: { $nin: except } } as object;
      const found = await collection.findOne(due, { sort: { eraseAt: 1 }, projection: { _id: 1, erasure: 1 } });
      const { _id: identityId, erasure } = (found ?? {}) as Partial<IdentityRecord>;
      return identityId === undefined ? undefined : { identityId, round: erasure?.round ?? 0 };
    },

    /** Claims an erasure, which cannot be taken back from then on. @returns false when it was taken back before */
    async claimErasure(identityId: string): Promise<boolean> {
      // one that was taken back and asked for again meanwhile waits
      const scheduled = { _id: identityId, eraseAt: { $gt: new Date(0), $lte: await storage.time() } } as object;
      const begunAt = { $ifNull: ['$erasure.begunAt', storage.clock.now()] };
      return (await collection.updateOne(scheduled, [{ $set: { 'erasure.begunAt': begunAt } }])).matchedCount > 0;
    },

    /** Deletes the identity if it lives. From then on nobody can restore it. */
    async beginErasure(identityId: string): Promise<void> {
      if (await find(identityId, { deletedAt: null })) await remove(identityId);
      const deleted = { _id: identityId, deletedAt: { $ne: null }, eraseAt: { $ne: null } } as object;
      await collection.updateOne(deleted, { $set: { [PURGING]: true } });
    },

    /**
     * The addresses by which an erasure finds what is the identity's. All that the store knows are kept until the identity is gone,
     * since events forget them.
     */
    async addressesOf(identityId: string): Promise<Addresses> {
      const projection = { email: 1, emailVerified: 1, erasure: 1 };
      const found = await collection.findOne({ _id: identityId } as object, { projection });
      const { erasure, ...has } = (found ?? {}) as Partial<IdentityRecord>;
      const { emails, unproved = [] } = erasure?.emails ? { ...erasure, emails: erasure.emails } : await everHad(identityId, has);
      const set = { 'erasure.emails': emails, 'erasure.unproved': unproved };
      await collection.updateOne({ _id: identityId } as object, { $set: set });
      // what the first round finds is not that of who registers anew while it goes on
      const isFirst = (erasure?.round ?? 0) === 0;
      return ownAmong(
        { emails, unproved },
        identityId,
        isFirst && erasure?.begunAt ? { createdAt: { $lte: erasure.begunAt } } : {},
      );
    },

    /** The addresses that a live identity has or had, but those that are another's now. */
    async knownAddressesOf(identityId: string, has: Pick<IdentityRecord, 'email' | 'emailVerified'>): Promise<Addresses> {
      return ownAmong(await everHad(identityId, has), identityId);
    },

    /**
     * Ends a round. After the second nothing of the identity is left but its id, for a last look at what came late; after that
     * nothing. @returns whether it was the last; undefined where a change is still to be told
     */
    async endRound({ identityId, round }: DueErasure): Promise<boolean | undefined> {
      const own = { _id: identityId, [PURGING]: true, ...SETTLED } as object;
      if (round === 0) {
        const answered = { $add: [{ $ifNull: ['$deactivatedAt', new Date(0)] }, SECOND_ROUND_MS] };
        const next = { eraseAt: { $max: [answered, later(ROUNDS_MS)] }, erasure: { round: 1 } };
        return (await collection.updateOne(own, [{ $set: next }])).matchedCount > 0 ? false : undefined;
      }
      if (round === 1) {
        const kept = ['_id', 'typeId', 'deletedAt', 'createdAt', PURGING].map((field) => [field, `$${field}`]);
        const left = { ...Object.fromEntries(kept), eraseAt: later(LAST_ROUND_MS), erasure: { round: 2 } };
        const { matchedCount } = await storage.people.replace(identityModel, own, left);
        return matchedCount > 0 ? false : undefined;
      }
      await storage.people.remove(identityModel, own);
      return true;
    },

    /** Lets an erasure that has failed be tried again. */
    async postponeErasure(identityId: string, milliseconds: number): Promise<void> {
      await collection.updateOne({ _id: identityId, eraseAt: { $ne: null } } as object, {
        $set: { eraseAt: later(milliseconds) },
      });
    },
  };
}
