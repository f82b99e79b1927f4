import { authenticationErrors, type EventBus, type Identity } from '@tandem/core';
import type { Model, Storage } from '@tandem/storage';
import { countsSession, type AccessState } from '../../identities/access-state.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../../identities/identity-changes.js';
import { createShortCopies } from '../../shared/short-copies.js';
import { SESSION_ENDED, type SessionEnded } from './session-ended.js';
import type { SessionRecord } from './session.model.js';

type SessionState = Pick<SessionRecord, '_id' | 'identityId' | 'epoch' | 'linkId' | 'expiresAt' | 'createdAt'>;
const STATE = { identityId: 1, epoch: 1, linkId: 1, expiresAt: 1, createdAt: 1 } as const;

/** A live session: what its identity is and has, and its start. */
type LiveSession = Pick<AccessState, 'typeId' | 'hasFactor'> & Pick<SessionRecord, 'createdAt'>;

interface LiveSessionsOptions {
  storage: Storage;
  bus: EventBus;
  /** In milliseconds. */
  lifetimes: { session: number };
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>>;
}

/** Which sessions are live, and whose they are (decisions A2, A6). */
export function createLiveSessions(
  { storage, bus, lifetimes, accessStateOf, accessStatesOf }: LiveSessionsOptions,
  Sessions: Model<SessionRecord>,
) {
  /** Keyed by identity and session. */
  const copies = createShortCopies<LiveSession | undefined>();
  const keyOf = ({ identityId, sessionId }: SessionEnded) => `${identityId} ${sessionId}`;
  const stops = [
    bus.subscribe(IDENTITY_CHANGED, (event) => {
      const { identityId } = event as IdentityChanged;
      copies.dropWhere((key) => key.startsWith(`${identityId} `));
    }),
    bus.subscribe(SESSION_ENDED, (event) => copies.drop(keyOf(event as SessionEnded))),
  ];

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

  async function read(sessionId: string, identityId: string): Promise<LiveSession | undefined> {
    const [session, state] = await Promise.all([
      Sessions.collection.findOne({ _id: sessionId } as object, {
        projection: STATE,
      }) as Promise<unknown> as Promise<SessionState | null>,
      accessStateOf(identityId),
    ]);
    return living(session, identityId, state);
  }

  function callerOf(id: string, sessionId: string, { typeId, hasFactor }: LiveSession): Identity {
    return { id, typeId, sessionId, ...(hasFactor && { hasFactor: true as const }) };
  }

  return {
    /** Sessions that started at or before this time have ended. */
    lastStart,

    /** A live session, by a copy that may be up to a second old. */
    of: (sessionId: string, identityId: string): Promise<LiveSession | undefined> =>
      copies.get(keyOf({ identityId, sessionId }), () => read(sessionId, identityId)),

    /** The caller of a live session. */
    callerOf,

    /** Drops what is copied of a session that has ended. */
    forget: (sessionId: string): void => copies.dropWhere((key) => key.endsWith(` ${sessionId}`)),

    /**
     * The identity of a session, read from the store without copies.
     * @throws authenticationErrors.unverified when the session has ended
     */
    async identityOf(sessionId: string, identityId: string): Promise<Identity> {
      const session = await read(sessionId, identityId);
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

    /** Unsubscribes from the bus. */
    close(): void {
      for (const stop of stops) stop();
    },
  };
}
