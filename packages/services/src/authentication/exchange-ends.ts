import { describeError, withDeadline, type Log } from '@tandem/core';
import type { Model } from '@tandem/storage';
import type { Rotation, SessionRecord } from './session.model.js';

/** For how long an exchanged refresh token gets the same successor once more, from the end of its exchange, in milliseconds (decisions A6, H15). */
const GRACE_MS = 10_000;
/** After so long an exchange has ended, whether or not its end was noted, in milliseconds: every request is answered within it (decisions T4). */
const EXCHANGE_MAX_MS = 15_000;

/** For how long one note holds up the next, in milliseconds: a store that does not answer must not keep later ends from being noted. */
const NOTE_MAX_MS = 5000;

/** Until when the refresh token of an exchange gets the same successor once more. */
export function graceEndOf({ at, endedAt }: Rotation): Date {
  const latest = at.getTime() + EXCHANGE_MAX_MS;
  return new Date(Math.min(endedAt?.getTime() ?? latest, latest) + GRACE_MS);
}

/**
 * Notes when exchanges of refresh tokens have ended. No answer waits for it: those that end while a note is being written are noted together
 * by the next write. What a crash or an outage loses only makes a grace longer, by `EXCHANGE_MAX_MS` at most.
 */
export function createExchangeEnds(Sessions: Model<SessionRecord>, log: Log) {
  /** Ends that are not in the store yet, by the id of the refresh token that was exchanged. */
  const pending = new Map<string, { sessionId: string; endedAt: Date }>();
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    while (pending.size > 0) {
      const batch = [...pending];
      const updates = batch.map(([jti, { sessionId, endedAt }]) => {
        const filter: object = { _id: sessionId, 'rotations.jti': jti };
        return { updateOne: { filter, update: { $set: { 'rotations.$.endedAt': endedAt } } } };
      });
      // by the driver, as the exchange itself
      await withDeadline(NOTE_MAX_MS, Sessions.collection.bulkWrite(updates, { ordered: false })).catch((error: unknown) =>
        log.warn({ err: describeError(error) }, 'ends of token exchanges were not noted'),
      );
      for (const [jti] of batch) pending.delete(jti);
    }
    writing = undefined;
  }

  return {
    /** @param jti of the refresh token that was exchanged */
    note(sessionId: string, jti: string, endedAt: Date): void {
      pending.set(jti, { sessionId, endedAt });
      writing ??= writeAll();
    },

    /** When the exchange of a refresh token ended, as far as this process knows it and the store may not yet. Ask before reading the store. */
    pendingEndOf: (jti: string): Date | undefined => pending.get(jti)?.endedAt,

    /** Waits until every end of this process is noted, or could not be. */
    settle: (): Promise<void> => writing ?? Promise.resolve(),
  };
}
