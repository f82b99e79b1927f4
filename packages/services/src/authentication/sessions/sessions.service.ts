import { randomUUID } from 'node:crypto';
import {
  TokenError,
  authenticationErrors,
  type EventBus,
  type Log,
  type Tokens,
  type VerifiedAccess,
  describeError,
} from '@tandem/core';
import { newId, type JointWrite, type Storage } from '@tandem/storage';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import type { AccessState } from '../../identities/access-state.js';
import { tokenRefusal, authenticationServiceErrors } from '../authentication.errors.js';
import { createExchangeEnds, graceEndOf } from './exchange-ends.js';
import { createLiveSessions } from './live-sessions.js';
import { createNamedSessions } from './named-sessions.js';
import { SESSION_ENDED, type SessionEnded } from './session-ended.js';
import { sessionModel, type SessionRecord } from './session.model.js';

export type SessionsService = ReturnType<typeof createSessionsService>;

/** Exchanges kept per session: more than a device makes within the grace period. */
const ROTATIONS_KEPT = 20;

/** The origin of a request. */
export interface Device extends RequestFacts {
  fingerprintHash: string | undefined;
  /** The provider link, for a sign-in by a provider. */
  linkId?: string | null;
}

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  /** Lifetimes in milliseconds, also for the cookies. */
  maxAges: { access: number; refresh: number };
}

interface SessionsOptions {
  storage: Storage;
  bus: EventBus;
  tokens: Tokens;
  log: Log;
  audit: AuditService;
  /** Lifetimes in milliseconds. A session's begins at sign-in and is not prolonged by refreshes (decisions H10). */
  lifetimes: { access: number; refresh: number; session: number };
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>>;
  /** Counts a token refresh of a session. @throws requestErrors.tooMany */
  countRefresh(sessionId: string): Promise<void>;
  /** The writes that record where an identity has signed in. */
  rememberingPlace(identityId: string, place: Device): JointWrite[];
}

/** Sessions and their tokens (decisions A2, A4 to A6, A12). */
export function createSessionsService(options: SessionsOptions) {
  const { storage, bus, tokens, log, audit, lifetimes, countRefresh } = options;
  const Sessions = storage.model(sessionModel);
  const ends = createExchangeEnds(Sessions, log);
  const { isOf, refOf, namedBy, provedAt } = createNamedSessions(Sessions, tokens);
  const live = createLiveSessions(options, Sessions);

  /** Latest end of a session, in epoch milliseconds. */
  const endOf = ({ createdAt }: Pick<SessionRecord, 'createdAt'>) => createdAt.getTime() + lifetimes.session;

  /** Expiry of a refresh token made at the given time. */
  function refreshExpiry(session: Pick<SessionRecord, 'createdAt'>, madeAt: Date): Date {
    return new Date(Math.min(madeAt.getTime() + lifetimes.refresh, endOf(session)));
  }

  function issuePair(
    session: Pick<SessionRecord, '_id' | 'identityId' | 'fingerprintHash' | 'createdAt'>,
    jti: string,
    refreshExpiresAt: Date,
  ): TokenPair {
    const shared = {
      sub: session.identityId,
      sid: session._id,
      ...(session.fingerprintHash !== null && { fph: session.fingerprintHash }),
    };
    const now = storage.clock.now().getTime();
    const accessExpiresAt = new Date(Math.min(now + lifetimes.access, endOf(session)));
    return {
      accessToken: tokens.issue('access', { ...shared, expiresAt: accessExpiresAt }),
      refreshToken: tokens.issue('refresh', { ...shared, jti, expiresAt: refreshExpiresAt }),
      maxAges: { access: accessExpiresAt.getTime() - now, refresh: refreshExpiresAt.getTime() - now },
    };
  }

  /**
   * Handles a refresh token that is not the newest: within the grace period it yields the same successor; later it is theft, and
   * the whole family ends.
   * @param askedAt when the request came: its client may have sent the token again while this one was held up
   */
  async function repeatOrRevoke(
    session: SessionRecord,
    { jti, askedAt, pendingEnd }: { jti: string; askedAt: Date; pendingEnd: Date | undefined },
    device: Device,
  ): Promise<TokenPair> {
    const rotation = session.rotations.find((past) => past.jti === jti);
    if (rotation && graceEndOf({ endedAt: pendingEnd, ...rotation }) >= askedAt)
      return issuePair(session, rotation.successor, refreshExpiry(session, rotation.at));
    await end(session._id);
    void audit.record('refresh.reused', device, { identityId: session.identityId, sessionId: session._id });
    throw authenticationServiceErrors.reused();
  }

  async function end(sessionId: string): Promise<boolean> {
    const session = await Sessions.findByIdAndDelete(sessionId, { projection: { identityId: 1 } }).lean<SessionRecord>();
    live.forget(sessionId);
    if (session) bus.publish(SESSION_ENDED, { sessionId, identityId: session.identityId } satisfies SessionEnded);
    return session !== null;
  }

  return {
    /**
     * Starts a session for an identity that has proved itself.
     * @param epoch the epoch read together with the proof
     * @param beside writes to perform together with the session's
     */
    async start(identityId: string, epoch: number, device: Device, ...beside: JointWrite[]): Promise<TokenPair> {
      const now = storage.clock.now();
      const session: SessionRecord = {
        _id: newId(storage.clock),
        identityId,
        epoch,
        jti: randomUUID(),
        rotations: [],
        linkId: device.linkId ?? null,
        fingerprintHash: device.fingerprintHash ?? null,
        ip: device.ip,
        userAgent: device.userAgent,
        lastUsedAt: now,
        expiresAt: refreshExpiry({ createdAt: now }, now),
        createdAt: now,
        updatedAt: now,
      };
      const recording = audit.recording('login.succeeded', device, { identityId, actorId: identityId, sessionId: session._id });
      await storage.writeJointly([
        { model: sessionModel, insert: session },
        recording,
        ...options.rememberingPlace(identityId, device),
        ...beside,
      ]);
      return issuePair(session, session.jti, session.expiresAt);
    },

    /**
     * Exchanges a refresh token by one atomic write to its session.
     * @param beside the access token in the browser's other cookie; it must be of the same identity, so that a planted cookie
     * cannot switch sessions
     * @throws authenticationServiceErrors.unusable (422) and reused (401), requestErrors.tooMany (429);
     * authenticationErrors.unverified
     */
    async refresh(refreshToken: string, device: Device, beside?: string): Promise<TokenPair> {
      const askedAt = storage.clock.now();
      const claims = await tokens.verify('refresh', refreshToken).catch((error: unknown) => {
        throw error instanceof TokenError ? authenticationServiceErrors.unusable({ cause: error }) : error;
      });
      const { sub: identityId, sid: sessionId = '', jti } = claims;
      if (beside !== undefined && !(await isOf(beside, identityId))) throw authenticationErrors.unverified();
      const fingerprintHash = device.fingerprintHash ?? null;
      if ((claims.fph ?? null) !== fingerprintHash) throw authenticationServiceErrors.unusable();
      // a copy suffices: ending all sessions also removes their records, and tokens of sessions that ended otherwise are refused
      // anyway
      const found = await live.of(sessionId, identityId);
      if (!found) throw authenticationServiceErrors.unusable();
      await countRefresh(sessionId);
      const now = storage.clock.now();
      const own = { _id: sessionId, identityId, expiresAt: { $gt: now }, createdAt: { $gt: live.lastStart() } };

      const successor = randomUUID();
      const expiresAt = refreshExpiry(found, now);
      const used = { lastUsedAt: now, updatedAt: now, ip: device.ip, userAgent: device.userAgent };
      // uses the driver: Mongoose would build a document for each array entry, which costs as much as the write
      const { matchedCount } = await Sessions.collection.updateOne(
        { ...own, jti } as object,
        {
          $set: { ...used, jti: successor, expiresAt },
          $push: { rotations: { $each: [{ jti, successor, at: now }], $slice: -ROTATIONS_KEPT } },
        } as object,
      );
      if (matchedCount > 0) {
        ends.note(sessionId, jti, storage.clock.now());
        const { createdAt } = found;
        return issuePair({ _id: sessionId, identityId, fingerprintHash, createdAt }, successor, expiresAt);
      }

      const pendingEnd = ends.pendingEndOf(jti);
      const session = await Sessions.findOne(own).lean<SessionRecord>();
      if (!session) throw authenticationServiceErrors.unusable();
      return repeatOrRevoke(session, { jti, askedAt, pendingEnd }, device);
    },

    /**
     * Verifies an access token, its session and its identity.
     * @throws authenticationErrors.unverified, wrongType
     */
    async verifyAccess(token: string): Promise<VerifiedAccess> {
      const claims = await tokens.verify('access', token).catch((error: unknown) => {
        throw error instanceof TokenError ? tokenRefusal(error) : error;
      });
      const { sub: id, sid: sessionId = '' } = claims;
      const session = await live.of(sessionId, id);
      if (!session) throw authenticationErrors.unverified();
      return { identity: live.callerOf(id, sessionId, session), fingerprintHash: claims.fph, expiresAt: claims.exp };
    },

    identityOf: live.identityOf,
    endedAmong: live.endedAmong,

    /** Ends a session. Resolves to whether there was one to end. */
    end,

    refOf,
    namedBy,
    provedAt,

    /** Notes that the holder of a session has proved themselves anew. @throws authenticationErrors.unverified when it is gone */
    async noteProof(sessionId: string): Promise<void> {
      const proof = { $set: { provenAt: storage.clock.now() } };
      const { matchedCount } = await Sessions.updateOne({ _id: sessionId }, proof);
      if (matchedCount === 0) throw authenticationErrors.unverified();
    },

    /**
     * Removes the sessions that ended when the identity's epoch was raised. They are invalid already, so a failure here only
     * leaves records behind. Sessions that ended with their provider link are left to expire.
     */
    async removeEnded(identityId: string, { sessionEpoch, sparedSessionId }: AccessState): Promise<void> {
      try {
        await Sessions.deleteMany({ identityId, epoch: { $lt: sessionEpoch }, _id: { $ne: sparedSessionId } });
      } catch (error) {
        log.warn({ err: describeError(error) }, 'ended sessions were not removed');
      }
    },

    /** Unsubscribes from the bus and waits for pending writes. */
    async close(): Promise<void> {
      live.close();
      await ends.settle();
    },
  };
}
