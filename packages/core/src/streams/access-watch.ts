import type { Clock, Identity, Log, VerifiedAccess } from '../context.js';
import { describeError } from '../error-log.js';

/**
 * Interval of the checks, in milliseconds: the end of a session must close its streams within a second (decisions S4).
 */
const CHECK_MS = 700;
/** Sessions looked up in one query. */
const BATCH = 1000;

/** Something that ends with its access: a socket, or a streamed answer. */
export interface Watched {
  readonly access: VerifiedAccess | undefined;
  /** Called once, when the access is no longer valid. */
  ended(reason: 'expired' | 'revoked'): void;
}

export type AccessWatch = ReturnType<typeof createAccessWatch>;

/**
 * Ends streams when their access token expires or their session ends, on any instance: the store is polled, and events
 * only shorten the delay. An API key counts as a session. The timer runs only while something is watched.
 * @param findEnded returns those of the session ids that have ended
 */
export function createAccessWatch(options: {
  clock: Clock;
  log: Log;
  findEnded: (identities: readonly Identity[]) => Promise<ReadonlySet<string>>;
}) {
  const { clock, log, findEnded } = options;
  const sessions = new Map<string, { identity: Identity; watched: Set<Watched> }>();
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  function remove(watched: Watched): void {
    const { sessionId } = watched.access?.identity ?? {};
    const session = sessionId === undefined ? undefined : sessions.get(sessionId);
    if (!session?.watched.delete(watched) || session.watched.size > 0) return;
    sessions.delete(sessionId as string);
    if (sessions.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function end(watched: Watched, reason: 'expired' | 'revoked'): void {
    remove(watched);
    watched.ended(reason);
  }

  function endExpired(): void {
    const now = clock.now().getTime() / 1000;
    for (const { watched } of sessions.values())
      for (const one of watched) if ((one.access?.expiresAt ?? 0) <= now) end(one, 'expired');
  }

  /** Ends streams of revoked sessions. When the store does not answer, nothing ends and the next check asks again. */
  async function endRevoked(identities: readonly Identity[]): Promise<void> {
    try {
      for (let at = 0; at < identities.length; at += BATCH) {
        const ended = await findEnded(identities.slice(at, at + BATCH));
        for (const sessionId of ended) for (const one of sessions.get(sessionId)?.watched ?? []) end(one, 'revoked');
      }
    } catch (error) {
      log.warn({ err: describeError(error) }, 'the sessions of open streams could not be looked up');
    }
  }

  async function check(): Promise<void> {
    endExpired();
    if (isChecking) return;
    isChecking = true;
    await endRevoked([...sessions.values()].map(({ identity }) => identity));
    isChecking = false;
  }

  return {
    add(watched: Watched & { readonly access: VerifiedAccess }): void {
      const { identity } = watched.access;
      const session = sessions.get(identity.sessionId) ?? { identity, watched: new Set() };
      sessions.set(identity.sessionId, session);
      // whose factor came later: without it, its streams end
      if (identity.hasFactor) session.identity = identity;
      session.watched.add(watched);
      timer ??= setInterval(() => void check(), CHECK_MS).unref();
    },
    /** Ignores what is not watched. */
    remove,
    /** Checks an identity's sessions now. */
    checkIdentity(identityId: string): void {
      const own = [...sessions.values()].filter(({ identity }) => identity.id === identityId);
      if (own.length > 0) void endRevoked(own.map(({ identity }) => identity));
    },
    /** Checks one session now. */
    checkSession(sessionId: string): void {
      const session = sessions.get(sessionId);
      if (session) void endRevoked([session.identity]);
    },
  };
}
