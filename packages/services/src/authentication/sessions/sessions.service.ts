import { randomUUID } from 'node:crypto';
import {
  TokenError,
  authenticationErrors,
  type EventBus,
  type Identity,
  type Log,
  type Tokens,
  type VerifiedAccess,
  describeError,
} from '@tandem/core';
import { newId, type JointWrite, type Storage } from '@tandem/storage';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../../identities/identity-changes.js';
import { countsSession, type AccessState } from '../../identities/access-state.js';
import { createShortCopies } from '../../shared/short-copies.js';
import { tokenRefusal, authenticationServiceErrors } from '../authentication.errors.js';
import { createExchangeEnds, graceEndOf } from './exchange-ends.js';
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

type SessionState = Pick<SessionRecord, '_id' | 'identityId' | 'epoch' | 'linkId' | 'expiresAt' | 'createdAt'>;
const STATE = { identityId: 1, epoch: 1, linkId: 1, expiresAt: 1, createdAt: 1 } as const;

/** A live session: what its identity is and has, and its start. */
type LiveSession = Pick<AccessState, 'typeId' | 'hasFactor'> & Pick<SessionRecord, 'createdAt'>;

/** Sessions and their tokens (decisions A2, A4 to A6, A12). */
export function createSessionsService(options: SessionsOptions) {
  const { storage, bus, tokens, log, audit, lifetimes, accessStateOf, accessStatesOf, countRefresh } = options;
  const Sessions = storage.model(sessionModel);
  const ends = createExchangeEnds(Sessions, log);
  const { isOf, refOf, namedBy, provedAt } = createNamedSessions(Sessions, tokens);
  /** Keyed by identity and session. */
  const copies = createShortCopies<LiveSession | undefined>();
  const keyOf = ({ identityId, sessionId }: SessionEnded) => `${identityId} ${sessionId}`;

  const stopListening = bus.subscribe(IDENTITY_CHANGED, (event) => {
    const { identityId } = event as IdentityChanged;
    copies.dropWhere((key) => key.startsWith(`${identityId} `));
  });

  /** Latest end of a session, in epoch milliseconds. */
  const endOf = ({ createdAt }: Pick<SessionRecord, 'createdAt'>) => createdAt.getTime() + lifetimes.session;
  /** Sessions that started at or before this time have ended. */
  const lastStart = () => new Date(storage.clock.now().getTime() - lifetimes.session);

  /** The session, if it and its identity are live; else undefined. */
  function living(
    session: SessionState | null | undefined,
    identityId: string,
    state: AccessState | undefined,
  ): LiveSession | undefined {
    if (!session || !state || session.identityId !== identityId || !countsSession(state, session)) return undefined;
    const { createdAt, expiresAt } = session;
    const { typeId, hasFactor } = state;
    return expiresAt > storage.clock.now() && createdAt > lastStart() ? { typeId, hasFactor, createdAt } : undefined;
  }

  /** The caller of a live session. */
  function callerOf(id: string, sessionId: string, { typeId, hasFactor }: LiveSession): Identity {
    return { id, typeId, sessionId, ...(hasFactor && { hasFactor: true as const }) };
  }

  async function readLiving(sessionId: string, identityId: string): Promise<LiveSession | undefined> {
    const [session, state] = await Promise.all([
      Sessions.collection.findOne({ _id: sessionId } as object, {
        projection: STATE,
      }) as Promise<unknown> as Promise<SessionState | null>,
      accessStateOf(identityId),
    ]);
    return living(session, identityId, state);
  }

  /** Like `readLiving`, but may return a copy up to a second old. */
  const livingOf = (sessionId: string, identityId: string) =>
    copies.get(keyOf({ identityId, sessionId }), () => readLiving(sessionId, identityId));

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
   */
  async function repeatOrRevoke(
    session: SessionRecord,
    jti: string,
    pendingEnd: Date | undefined,
    device: Device,
  ): Promise<TokenPair> {
    const rotation = session.rotations.find((past) => past.jti === jti);
    if (rotation && graceEndOf({ endedAt: pendingEnd, ...rotation }) >= storage.clock.now())
      return issuePair(session, rotation.successor, refreshExpiry(session, rotation.at));
    await end(session._id);
    void audit.record('refresh.reused', device, { identityId: session.identityId, sessionId: session._id });
    throw authenticationServiceErrors.reused();
  }

  async function end(sessionId: string): Promise<boolean> {
    const session = await Sessions.findByIdAndDelete(sessionId, { projection: { identityId: 1 } }).lean<SessionRecord>();
    copies.dropWhere((key) => key.endsWith(` ${sessionId}`));
    if (session) bus.publish(SESSION_ENDED, { sessionId, identityId: session.identityId } satisfies SessionEnded);
    return session !== null;
  }
  const stopHearing = bus.subscribe(SESSION_ENDED, (event) => copies.drop(keyOf(event as SessionEnded)));

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
      const claims = await tokens.verify('refresh', refreshToken).catch((error: unknown) => {
        throw error instanceof TokenError ? authenticationServiceErrors.unusable({ cause: error }) : error;
      });
      const { sub: identityId, sid: sessionId = '', jti } = claims;
      if (beside !== undefined && !(await isOf(beside, identityId))) throw authenticationErrors.unverified();
      const fingerprintHash = device.fingerprintHash ?? null;
      if ((claims.fph ?? null) !== fingerprintHash) throw authenticationServiceErrors.unusable();
      // a copy suffices: ending all sessions also removes their records, and tokens of sessions that ended otherwise are refused
      // anyway
      const living = await livingOf(sessionId, identityId);
      if (!living) throw authenticationServiceErrors.unusable();
      await countRefresh(sessionId);
      const now = storage.clock.now();
      const live = { _id: sessionId, identityId, expiresAt: { $gt: now }, createdAt: { $gt: lastStart() } };

      const successor = randomUUID();
      const expiresAt = refreshExpiry(living, now);
      const used = { lastUsedAt: now, updatedAt: now, ip: device.ip, userAgent: device.userAgent };
      // uses the driver: Mongoose would build a document for each array entry, which costs as much as the write
      const { matchedCount } = await Sessions.collection.updateOne(
        { ...live, jti } as object,
        {
          $set: { ...used, jti: successor, expiresAt },
          $push: { rotations: { $each: [{ jti, successor, at: now }], $slice: -ROTATIONS_KEPT } },
        } as object,
      );
      if (matchedCount > 0) {
        ends.note(sessionId, jti, storage.clock.now());
        const { createdAt } = living;
        return issuePair({ _id: sessionId, identityId, fingerprintHash, createdAt }, successor, expiresAt);
      }

      const pendingEnd = ends.pendingEndOf(jti);
      const session = await Sessions.findOne(live).lean<SessionRecord>();
      if (!session) throw authenticationServiceErrors.unusable();
      return repeatOrRevoke(session, jti, pendingEnd, device);
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
      const session = await livingOf(sessionId, id);
      if (!session) throw authenticationErrors.unverified();
      return { identity: callerOf(id, sessionId, session), fingerprintHash: claims.fph, expiresAt: claims.exp };
    },

    /**
     * The identity of a session, read from the store without copies.
     * @throws authenticationErrors.unverified when the session has ended
     */
    async identityOf(sessionId: string, identityId: string): Promise<Identity> {
      const session = await readLiving(sessionId, identityId);
      if (!session) throw authenticationErrors.unverified();
      return callerOf(identityId, sessionId, session);
    },

    /** The ids of the sessions that have ended, or whose identity has changed its type or lost its factors, read from the store. */
    async endedAmong(identities: readonly Identity[]): Promise<Set<string>> {
      const [sessions, states] = await Promise.all([
        Sessions.find({ _id: { $in: identities.map(({ sessionId }) => sessionId) } }, STATE).lean<SessionState[]>(),
        accessStatesOf([...new Set(identities.map(({ id }) => id))]),
      ]);
      const byId = new Map(sessions.map((session) => [session._id, session]));
      const hasEnded = ({ id, sessionId, typeId, hasFactor }: Identity) => {
        const session = living(byId.get(sessionId), id, states.get(id));
        return session?.typeId !== typeId || (hasFactor === true && !session.hasFactor);
      };
      return new Set(identities.filter(hasEnded).map(({ sessionId }) => sessionId));
    },

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
      stopListening();
      stopHearing();
      await ends.settle();
    },
  };
}
