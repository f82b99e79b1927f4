import { describeError, withDeadline, type Log } from '@tandem/core';
import type { Model } from '@tandem/storage';
import type { Rotation, SessionRecord } from './session.model.js';

/**
 * How long an exchanged refresh token still yields the same successor, in milliseconds from the end of the exchange (decisions
 * A6, H15).
 */
const GRACE_MS = 10_000;
/**
 * An exchange counts as ended after this time, in milliseconds, even if its end was not stored: every request is answered within
 * it (decisions T4).
 */
const EXCHANGE_MAX_MS = 15_000;

/** How long one write may delay the next, in milliseconds, so that a hanging store does not block later ends. */
const NOTE_MAX_MS = 5000;

/** The time until which the exchanged refresh token still yields the same successor. */
export function graceEndOf({ at, endedAt }: Rotation): Date {
  const latest = at.getTime() + EXCHANGE_MAX_MS;
  return new Date(Math.min(endedAt?.getTime() ?? latest, latest) + GRACE_MS);
}

/**
 * Stores when exchanges of refresh tokens ended. No answer waits for it; ends that arrive during a write go into the next one. An
 * end lost in a crash or outage only prolongs the grace period, by at most `EXCHANGE_MAX_MS`.
 */
export function createExchangeEnds(Sessions: Model<SessionRecord>, log: Log) {
  /** Ends that are not stored yet, by the id of the exchanged refresh token. */
  const pending = new Map<string, { sessionId: string; endedAt: Date }>();
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (pending.size > 0) {
      const batch = [...pending];
      const updates = batch.map(([jti, { sessionId, endedAt }]) => {
        const filter: object = { _id: sessionId, 'rotations.jti': jti };
        return { updateOne: { filter, update: { $set: { 'rotations.$.endedAt': endedAt } } } };
      });
      // uses the driver, like the exchange itself
      await withDeadline(NOTE_MAX_MS, Sessions.collection.bulkWrite(updates, { ordered: false })).catch((error: unknown) =>
        log.warn({ err: describeError(error) }, 'ends of token exchanges were not stored'),
      );
      for (const [jti] of batch) pending.delete(jti);
    }
    writing = undefined;
  }

  return {
    /** @param jti id of the exchanged refresh token */
    note(sessionId: string, jti: string, endedAt: Date): void {
      pending.set(jti, { sessionId, endedAt });
      writing ??= writeAll();
    },

    /** The end of an exchange that the store may not know yet. Call this before reading the store. */
    pendingEndOf: (jti: string): Date | undefined => pending.get(jti)?.endedAt,

    /** Waits until every end of this process is stored, or has failed to be. */
    settle: (): Promise<void> => writing ?? Promise.resolve(),
  };
}
