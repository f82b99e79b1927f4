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
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../identities/identity-changes.js';
import { countsSession, type AccessState } from '../identities/access-state.js';
import { createShortCopies } from '../shared/short-copies.js';
import { tokenRefusal, authenticationServiceErrors } from './authentication.errors.js';
import { createExchangeEnds, graceEndOf } from './exchange-ends.js';
import { createNamedSessions } from './named-sessions.js';
import { sessionModel, type SessionRecord } from './session.model.js';

export type SessionsService = ReturnType<typeof createSessionsService>;

/** Exchanges remembered per session: more than one device makes within the grace. */
const ROTATIONS_KEPT = 20;

/** Where a request comes from. */
export interface Device extends RequestFacts {
  fingerprintHash: string | undefined;
  /** Where the sign-in comes by a provider: the link that lets it. */
  linkId?: string | null;
}

export interface TokenPair {
  accessToken: string;
  refreshToken: string;
  /** For how long each counts, in milliseconds: cookies live no longer. */
  maxAges: { access: number; refresh: number };
}

interface SessionsOptions {
  storage: Storage;
  bus: EventBus;
  tokens: Tokens;
  log: Log;
  audit: AuditService;
  /** Lifetimes in milliseconds; that of a session begins with its sign-in, however often its tokens are exchanged (decisions H10). */
  lifetimes: { access: number; refresh: number; session: number };
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>>;
  /** Counts an exchange of a session's refresh token. @throws requestErrors.tooMany */
  countRefresh(sessionId: string): Promise<void>;
  /** The writes that note where an identity has signed in. */
  rememberingPlace(identityId: string, place: Device): JointWrite[];
}

type SessionState = Pick<SessionRecord, '_id' | 'identityId' | 'epoch' | 'linkId' | 'expiresAt' | 'createdAt'>;
const STATE = { identityId: 1, epoch: 1, linkId: 1, expiresAt: 1, createdAt: 1 } as const;

/** What is known of a session that lives: its identity's type, and when it began. */
type LiveSession = { typeId: string } & Pick<SessionRecord, 'createdAt'>;

/** Sessions and their tokens (decisions A2, A4 to A6, A12). */
export function createSessionsService(options: SessionsOptions) {
  const { storage, bus, tokens, log, audit, lifetimes, accessStateOf, accessStatesOf, countRefresh } = options;
  const Sessions = storage.model(sessionModel);
  const ends = createExchangeEnds(Sessions, log);
  const { isOf, refOf, namedBy, signedInAt } = createNamedSessions(Sessions, tokens);
  /** By identity and session. */
  const copies = createShortCopies<LiveSession | undefined>();
  const keyOf = ({ identityId, sessionId }: SessionEnded) => `${identityId} ${sessionId}`;

  const stopListening = bus.subscribe(IDENTITY_CHANGED, (event) => {
    const { identityId } = event as IdentityChanged;
    copies.dropWhere((key) => key.startsWith(`${identityId} `));
  });

  /** When a session ends at the latest. */
  const endOf = ({ createdAt }: Pick<SessionRecord, 'createdAt'>) => createdAt.getTime() + lifetimes.session;
  /** Sessions that began then or earlier have ended. */
  const lastStart = () => new Date(storage.clock.now().getTime() - lifetimes.session);

  /** The session while it and its identity live; undefined when either has ended. */
  function living(
    session: SessionState | null | undefined,
    identityId: string,
    state: AccessState | undefined,
  ): LiveSession | undefined {
    if (!session || !state || session.identityId !== identityId || !countsSession(state, session)) return undefined;
    const { createdAt, expiresAt } = session;
    return expiresAt > storage.clock.now() && createdAt > lastStart() ? { typeId: state.typeId, createdAt } : undefined;
  }

  async function readLiving(sessionId: string, identityId: string): Promise<LiveSession | undefined> {
    const [session, state] = await Promise.all([
      Sessions.findById(sessionId, STATE).lean<SessionState>(),
      accessStateOf(identityId),
    ]);
    return living(session, identityId, state);
  }

  /** The same by a copy at most a second old. */
  const livingOf = (sessionId: string, identityId: string) =>
    copies.get(keyOf({ identityId, sessionId }), () => readLiving(sessionId, identityId));

  /** When a refresh token ends that was made at a time. */
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

  /** A refresh token that is not the newest: the same successor again within the grace, else theft, which ends the family. */
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
     * Starts a session of an identity that has proved itself.
     * @param epoch the one that was read together with the proof
     * @param beside writes to do with it
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
     * Exchanges a refresh token, by one atomic write to its session.
     * @param beside the access token of a browser's other cookie: nobody's session turns into another person's by a cookie that was planted
     * @throws authenticationServiceErrors.unusable (422) and reused (401), requestErrors.tooMany (429); authenticationErrors.unverified
     */
    async refresh(refreshToken: string, device: Device, beside?: string): Promise<TokenPair> {
      const claims = await tokens.verify('refresh', refreshToken).catch((error: unknown) => {
        throw error instanceof TokenError ? authenticationServiceErrors.unusable({ cause: error }) : error;
      });
      const { sub: identityId, sid: sessionId = '', jti } = claims;
      if (beside !== undefined && !(await isOf(beside, identityId))) throw authenticationErrors.unverified();
      const fingerprintHash = device.fingerprintHash ?? null;
      if ((claims.fph ?? null) !== fingerprintHash) throw authenticationServiceErrors.unusable();
      // a copy will do: what ends all sessions removes their records too, and tokens of a session that ended otherwise never count
      const known = await livingOf(sessionId, identityId);
      if (!known) throw authenticationServiceErrors.unusable();
      await countRefresh(sessionId);
      const now = storage.clock.now();
      const live = { _id: sessionId, identityId, expiresAt: { $gt: now }, createdAt: { $gt: lastStart() } };

      const successor = randomUUID();
      const expiresAt = refreshExpiry(known, now);
      const used = { lastUsedAt: now, updatedAt: now, ip: device.ip, userAgent: device.userAgent };
      // by the driver: Mongoose makes a document of each array entry first, which costs as much as the write
      const { matchedCount } = await Sessions.collection.updateOne(
        { ...live, jti } as object,
        {
          $set: { ...used, jti: successor, expiresAt },
          $push: { rotations: { $each: [{ jti, successor, at: now }], $slice: -ROTATIONS_KEPT } },
        } as object,
      );
      if (matchedCount > 0) {
        ends.note(sessionId, jti, storage.clock.now());
        const { createdAt } = known;
        return issuePair({ _id: sessionId, identityId, fingerprintHash, createdAt }, successor, expiresAt);
      }

      const pendingEnd = ends.pendingEndOf(jti);
      const session = await Sessions.findOne(live).lean<SessionRecord>();
      if (!session) throw authenticationServiceErrors.unusable();
      return repeatOrRevoke(session, jti, pendingEnd, device);
    },

    /**
     * What an access token stands for, if its session and identity live.
     * @throws authenticationErrors.unverified, wrongType
     */
    async verifyAccess(token: string): Promise<VerifiedAccess> {
      const claims = await tokens.verify('access', token).catch((error: unknown) => {
        throw error instanceof TokenError ? tokenRefusal(error) : error;
      });
      const { sub: id, sid: sessionId = '' } = claims;
      const known = await livingOf(sessionId, id);
      if (!known) throw authenticationErrors.unverified();
      return { identity: { id, typeId: known.typeId, sessionId }, fingerprintHash: claims.fph, expiresAt: claims.exp };
    },

    /**
     * Who acts in a session at this moment, as the store says.
     * @throws authenticationErrors.unverified when it has ended
     */
    async identityOf(sessionId: string, identityId: string): Promise<Identity> {
      const known = await readLiving(sessionId, identityId);
      if (!known) throw authenticationErrors.unverified();
      return { id: identityId, typeId: known.typeId, sessionId };
    },

    /** The ids of those sessions that have ended, or whose identity is of another type now, as the store says. */
    async endedAmong(identities: readonly Identity[]): Promise<Set<string>> {
      const [sessions, states] = await Promise.all([
        Sessions.find({ _id: { $in: identities.map(({ sessionId }) => sessionId) } }, STATE).lean<SessionState[]>(),
        accessStatesOf([...new Set(identities.map(({ id }) => id))]),
      ]);
      const byId = new Map(sessions.map((session) => [session._id, session]));
      const ended = identities.filter(
        ({ id, sessionId, typeId }) => living(byId.get(sessionId), id, states.get(id))?.typeId !== typeId,
      );
      return new Set(ended.map(({ sessionId }) => sessionId));
    },

    /** Ends one session, and says whether there was one; of an ended one there is nothing to end. */
    end,

    refOf,
    namedBy,
    signedInAt,

    /**
     * Removes the sessions of an identity that a raise of its epoch has ended. They have ended already, so that a failure here changes
     * nothing. What came by a link that is gone is left to expire.
     */
    async removeEnded(identityId: string, { sessionEpoch, sparedSessionId }: AccessState): Promise<void> {
      try {
        await Sessions.deleteMany({ identityId, epoch: { $lt: sessionEpoch }, _id: { $ne: sparedSessionId } });
      } catch (error) {
        log.warn({ err: describeError(error) }, 'ended sessions were not removed');
      }
    },

    /** Ends the listening to the bus, and waits for what is still being noted. */
    async close(): Promise<void> {
      stopListening();
      stopHearing();
      await ends.settle();
    },
  };
}

/** Published when one session has ended. */
export const SESSION_ENDED = 'sessions.ended';
export interface SessionEnded {
  sessionId: string;
  identityId: string;
}
