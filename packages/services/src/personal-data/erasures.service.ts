import { setTimeout as wait } from 'node:timers/promises';
import { describeError, type Log } from '@tandem/core';
import type { NamedPerson, Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import { NO_REQUEST, type RequestFacts } from '../audit/request-facts.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { DueErasure } from '../identities/identity-erasure.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { Ownerships } from '../organizations/ownerships.js';

/** How an erasure works: the signal ends it, and texts of messages go or stay. */
export interface ErasureSettings {
  signal?: AbortSignal | undefined;
  blank: boolean;
}
/** What a service does of an erasure itself. It may be repeated at any time. @returns how much there was to do */
export type ErasureStep = (person: NamedPerson, settings: ErasureSettings) => Promise<number>;

/** Passes over all records, each after what the one before has changed was told; then it is tried again later. */
const PASSES_MAX = 40;
const PASS_WAIT_MS = 50;
/** When an erasure that has failed is tried again, in milliseconds. */
const AGAIN_MS = 10_000;

interface ErasuresOptions {
  storage: Storage;
  log: Log;
  identities: IdentitiesService;
  ownerships: Ownerships;
  audit: AuditService;
  /** Milliseconds from the request to the erasure. */
  delay: number;
  /** Whether texts of messages go. */
  blank: boolean;
}

export type ErasuresService = ReturnType<typeof createErasuresService>;

/** Erasure of people (decisions F8). The identity says that it is due; whichever process lives does it, from the beginning. */
export function createErasuresService(options: ErasuresOptions) {
  const { storage, log, identities, ownerships, audit, delay, blank } = options;
  const steps: { records: ErasureStep[]; copies: ErasureStep[] } = { records: [], copies: [] };

  /** Takes the person out of all records. What these changes tell is appended first, since events are cleaned last. */
  async function eraseRecords(person: NamedPerson, settings: ErasureSettings): Promise<void> {
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      await storage.events.relay();
      const { changed, left } = await storage.people.erase(person, settings);
      let more = changed + left;
      for (const step of steps.records) more += await step(person, settings);
      if (more === 0) return;
      if (left > 0) await wait(PASS_WAIT_MS);
    }
    throw new Error('records change faster than somebody can be taken out of them');
  }

  async function eraseOne(due: DueErasure, signal: AbortSignal): Promise<void> {
    const { identityId, round } = due;
    const settings = { signal, blank };
    if (round === 0) {
      if (!(await identities.claimErasure(identityId))) return;
      await ownerships.passOn(identityId);
      await identities.beginErasure(identityId);
    }
    const person = { id: identityId, ...(await identities.addressesOf(identityId)) };
    await eraseRecords(person, settings);
    await storage.people.eraseEvents(person, settings);
    for (const step of steps.copies) await step(person, settings);
    // rather twice than never: the next round knows nothing of it
    if (round === 1) await audit.record('identity.erased', NO_REQUEST, { identityId });
    const isLast = await identities.endRound(due);
    if (isLast === undefined) throw new Error('a change of the identity is still to be told');
  }

  return {
    /** Adds what a service does itself: to records, or to what is made of them. Call it when wiring services. */
    alsoBy({ records = [], copies = [] }: { records?: readonly ErasureStep[]; copies?: readonly ErasureStep[] }): void {
      steps.records.push(...records);
      steps.copies.push(...copies);
    },

    /**
     * Deactivates an identity at once, and erases it after the delay.
     * @param isSelf whether it asks itself: as the only owner of an organization it may not
     * @throws identityErrors.notFound, serviceAccount; organizationErrors.noOwnerLeft
     */
    async request(identityId: string, isSelf: boolean, by: RequestFacts): Promise<{ eraseAt: string }> {
      if ((await identities.serviceAccountOf(identityId)) !== undefined) throw identityErrors.serviceAccount();
      const isSoleOwner = async () => isSelf && (await ownerships.isSoleOwner(identityId));
      if (await isSoleOwner()) throw organizationErrors.noOwnerLeft();
      const isSoon = delay > 0 && delay < DAY_MS;
      const values: Record<string, number> = isSoon
        ? { hours: Math.ceil(delay / HOUR_MS) }
        : { days: Math.round(delay / DAY_MS) };
      const mail = { template: 'erasure-requested', identityId, values } as const;
      const consequences = { endSessions: true, endKeys: true, voidTokens: true, mail };
      const { eraseAt, isNew } = await identities.scheduleErasure(identityId, delay, consequences, by);
      // of two owners who go at once, each sees the other only now
      if (isNew && (await isSoleOwner())) {
        const isTakenBack = await identities.cancelErasure(identityId, by, eraseAt).then(
          () => true,
          (error: unknown) => {
            // it has begun
            if (identityErrors.notErased.matches(error)) return false;
            throw error;
          },
        );
        if (isTakenBack) throw organizationErrors.noOwnerLeft();
      }
      return { eraseAt: eraseAt.toISOString() };
    },

    /** Takes an erasure back before it begins. @throws identityErrors.notErased */
    cancel: (identityId: string, by: RequestFacts): Promise<void> => identities.cancelErasure(identityId, by),

    /** Makes the rounds that are due. */
    async work({ signal }: { signal: AbortSignal }): Promise<void> {
      const failed: string[] = [];
      for (;;) {
        signal.throwIfAborted();
        const due = await identities.dueErasure(await storage.time(), failed);
        if (!due) return;
        try {
          await eraseOne(due, signal);
        } catch (error) {
          signal.throwIfAborted();
          log.error({ err: describeError(error), identityId: due.identityId }, 'an erasure failed; it is tried again');
          failed.push(due.identityId);
          await identities.postponeErasure(due.identityId, AGAIN_MS);
          // a dead process may have left half a deletion
          await storage.sweep();
        }
      }
    },
  };
}

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
