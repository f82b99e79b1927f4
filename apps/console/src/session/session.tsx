import { createTandemClient, type MemoryTokenStore, type TandemClient } from '@tandem/client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useState, type ReactNode } from 'react';
import type { Settings } from '../settings.js';
import { cookieOwner } from './cookie-owner.js';

export interface Session {
  client: TandemClient;
  settings: Settings;
  /** Who is signed in; undefined when nobody is. */
  identityId: string | undefined;
  /** Whether the server has ended the session that was there before. */
  hasEnded: boolean;
  /** A sign-in of the client's has come to its end: the page is this person's now. */
  began(identityId: string): void;
  signOut(): Promise<void>;
}

const SessionContext = createContext<Session | undefined>(undefined);

/** The session of this page. @throws Error outside of its provider */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('there is no session here');
  return session;
}

/** The id of who is signed in: for what is only shown to somebody. */
export function useIdentityId(): string {
  const { identityId } = useSession();
  if (identityId === undefined) throw new Error('nobody is signed in');
  return identityId;
}

interface SessionProviderProps {
  settings: Settings;
  tokens: MemoryTokenStore;
  children: ReactNode;
}

export function SessionProvider({ settings, tokens, children }: SessionProviderProps) {
  const queries = useQueryClient();
  const { authMode: mode } = settings;
  const [client] = useState(() => createTandemClient({ url: location.origin, mode, tokens, onSignedOut: () => leave(true) }));
  const [state, setState] = useState(() => ({
    identityId: mode === 'cookie' ? cookieOwner.load() : tokens.load()?.identityId,
    hasEnded: false,
  }));

  /** Nothing of one person's is left for the next. */
  function leave(hasEnded: boolean): void {
    cookieOwner.clear();
    queries.clear();
    setState({ identityId: undefined, hasEnded });
  }

  const session: Session = {
    client,
    settings,
    ...state,
    began(identityId) {
      queries.clear();
      if (mode === 'cookie') cookieOwner.save(identityId);
      setState({ identityId, hasEnded: false });
    },
    async signOut() {
      await client.signOut();
      leave(false);
    },
  };
  return <SessionContext value={session}>{children}</SessionContext>;
}
