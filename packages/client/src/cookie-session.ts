import type { AuthCalls } from './auth-calls.js';
import { isRefusal } from './failure.js';
import { NO_ACCESS_COOKIE, UNVERIFIED, type Session } from './session.js';

/** A session whose tokens are in cookies, which scripts cannot read. It only tracks events that change them. */
export function createCookieSession(calls: AuthCalls): Session {
  /** Sign-ins and sign-outs of this client, and sign-ins of others that it was told of. */
  let sessions = 0;
  let renewals = 0;
  /** Whose the session is, where this client knows. */
  let identityId: string | undefined;
  /**
   * Whether the session is known to have ended. Another tab may have started a new one, so each 401 asks the server
   * again.
   */
  let isEnded = false;
  const ownerNow = () => String(sessions);
  const keyNow = () => `${sessions}.${renewals}`;

  return {
    curable: new Set([UNVERIFIED, NO_ACCESS_COOKIE]),

    hold: () => Promise.resolve({ owner: ownerNow(), key: keyNow(), headers: {} }),

    async start(answer) {
      if ('accessToken' in answer) throw new Error("the server answers tokens: make the client with mode 'bearer'");
      sessions++;
      identityId = answer.id;
      isEnded = false;
    },

    async renew(held) {
      if (held.owner !== ownerNow()) return 'left';
      if (held.key !== keyNow()) return 'renewed';
      try {
        await calls.refresh();
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (held.owner !== ownerNow() || isEnded) return 'left';
        isEnded = true;
        return 'ended';
      }
      if (held.owner !== ownerNow()) return 'left';
      renewals++;
      isEnded = false;
      return 'renewed';
    },

    follow(id) {
      if (id !== identityId) sessions++;
      identityId = id;
      isEnded = false;
    },

    async end() {
      sessions++;
      await calls.logout().catch((error: unknown) => {
        // whoever is not signed out is the same as before
        sessions--;
        throw error;
      });
      // calls sent meanwhile carried cookies that are gone now
      sessions++;
      isEnded = true;
    },
  };
}
