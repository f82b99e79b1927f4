import { createHash } from 'node:crypto';
import type { Storage } from '@tandem/storage';
import pLimit, { type LimitFunction } from 'p-limit';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import { failedLoginModel, type FailedLoginRecord } from './failed-login.model.js';

/** Failures after which an address waits, and how long: the first, second, third and every further time (decisions A9). */
const FAILURES_TO_LOCK = 5;
const LOCK_MINUTES = [1, 5, 15, 60] as const;
const MINUTE_MS = 60_000;
/** After this time without a failure the count starts anew. */
const MEMORY_MS = 24 * 60 * MINUTE_MS;

export type FailedLogins = ReturnType<typeof createFailedLogins>;

/** An address never stands in a store of attempts: most of them are somebody's typing errors. */
function keyOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url');
}

/** The attempts on one address that are under way in this process. */
interface Turns {
  attempts: number;
  limit: LimitFunction;
  /** Failures that were left until the next wait, when they were fewest; unknown until the first attempt has looked. */
  left?: number;
}

/** Counts failed logins an address, the same for known and unknown ones, and makes them wait for a growing time. */
export function createFailedLogins(storage: Storage) {
  const FailedLogins = storage.model(failedLoginModel);
  const turnsOf = new Map<string, Turns>();

  /** Lets no more attempts on an address run at once than it has failures left. */
  function narrow(key: string, failures: number): void {
    const turns = turnsOf.get(key);
    if (!turns) return;
    turns.left = Math.min(turns.left ?? FAILURES_TO_LOCK, FAILURES_TO_LOCK - (failures % FAILURES_TO_LOCK));
    turns.limit.concurrency = turns.left;
  }

  /** @returns whether the address has to wait, and the failures that are remembered of it */
  async function look(email: string): Promise<{ isWaiting: boolean; failures: number }> {
    const key = keyOf(email);
    const found = await FailedLogins.findById(key, { failures: 1, lockedUntil: 1 }).lean<FailedLoginRecord>();
    const failures = found?.failures ?? 0;
    narrow(key, failures);
    return { isWaiting: (found?.lockedUntil ?? new Date(0)) > storage.clock.now(), failures };
  }

  return {
    /**
     * Runs an attempt on an address when its turn has come, with the failures so far: guesses made at once count as guesses made one
     * after another, and none is compared after the fifth failure. It tells `record` of a failure, and asks `passes` or `isWaiting` of
     * a success.
     * @throws errors.locked while the address has to wait
     */
    async inTurn<T>(email: string, attempt: (failures: number) => Promise<T>): Promise<T> {
      const key = keyOf(email);
      // nobody queues behind others to be refused
      if (turnsOf.has(key) && (await look(email)).isWaiting) throw errors.locked();
      const turns = turnsOf.get(key) ?? { attempts: 0, limit: pLimit(1) };
      turnsOf.set(key, turns);
      turns.attempts++;
      try {
        return await turns.limit(async () => {
          const { isWaiting, failures } = await look(email);
          if (isWaiting) throw errors.locked();
          return attempt(failures);
        });
      } finally {
        if (--turns.attempts === 0) turnsOf.delete(key);
      }
    },

    /** Whether the address has to wait by now: guesses that ran at the same time do not slip through behind the fifth failure. */
    isWaiting: async (email: string) => (await look(email)).isWaiting,

    /**
     * Counts a failure; each fifth one starts a wait. One atomic write, however many fail at once.
     * @returns whether this one starts a wait
     */
    async record(email: string): Promise<boolean> {
      const key = keyOf(email);
      const now = storage.clock.now();
      const round = { $min: [{ $subtract: [{ $divide: ['$failures', FAILURES_TO_LOCK] }, 1] }, LOCK_MINUTES.length - 1] };
      const until = { $add: [now, { $multiply: [MINUTE_MS, { $arrayElemAt: [[...LOCK_MINUTES], round] }] }] };
      const isFifth = { $eq: [{ $mod: ['$failures', FAILURES_TO_LOCK] }, 0] };
      const recorded = await FailedLogins.findOneAndUpdate(
        { _id: key },
        [
          {
            $set: {
              failures: { $add: [{ $ifNull: ['$failures', 0] }, 1] },
              createdAt: { $ifNull: ['$createdAt', now] },
              expiresAt: new Date(now.getTime() + MEMORY_MS),
            },
          },
          { $set: { lockedUntil: { $cond: [isFifth, until, { $ifNull: ['$lockedUntil', null] }] } } },
        ],
        { upsert: true, updatePipeline: true, returnDocument: 'after' },
      ).lean<FailedLoginRecord>();
      const failures = recorded?.failures ?? 0;
      narrow(key, failures);
      return failures % FAILURES_TO_LOCK === 0;
    },

    /**
     * Forgets the failures of an address after a success, unless it has to wait meanwhile.
     * @param failures that there were before
     * @returns whether it may pass
     */
    async passes(email: string, failures: number): Promise<boolean> {
      if (failures === 0) return !(await look(email)).isWaiting;
      const { deletedCount } = await FailedLogins.deleteOne({
        _id: keyOf(email),
        $or: [{ lockedUntil: null }, { lockedUntil: { $lte: storage.clock.now() } }],
      });
      return deletedCount > 0 || !(await look(email)).isWaiting;
    },

    /** Forgets all failures of an address, also a wait. */
    async forget(email: string): Promise<void> {
      await FailedLogins.deleteOne({ _id: keyOf(email) });
    },
  };
}
