import { useMemo } from 'react';
import { useShared } from './provider.js';
import type { SessionState, SessionStore } from './session-store.js';

/**
 * Whether somebody is signed in, and the functions that change it. They fail with a TandemError, and those that sign in
 * with a MfaRequiredError when a second step has to follow: `verifyMfa` takes its token and a code, `verifyMfaByPasskey` the token.
 */
export type Session = SessionState & Omit<SessionStore, 'client' | 'state' | 'watch'>;

/** The session of this page. @throws Error outside a TandemProvider */
export function useSession(): Session {
  const { session, state } = useShared();
  return useMemo(() => {
    const { client: _client, state: _state, watch: _watch, ...calls } = session;
    return { ...state, ...calls };
  }, [session, state]);
}
