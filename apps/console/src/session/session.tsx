import { createPeople, createTandemClient, type MemoryTokenStore, type People, type TandemClient } from '@tandem/client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import type { Settings } from '../settings.js';
import { cookieOwner } from './cookie-owner.js';

export interface Session {
  client: TandemClient;
  /** Names and pictures, kept for a while. */
  people: People;
  settings: Settings;
  /** The signed-in identity; undefined when signed out. */
  identityId: string | undefined;
  /** How the previous session of this page ended, where the sign-in says so. */
  ending: Ending | undefined;
  /** The client, for streams: another object after a sign-out that failed, during which they may have ended. */
  connection: { client: TandemClient };
  /** The access token of a bearer session, for sockets; calls send their own. */
  accessToken(): string | undefined;
  /** A sign-in has completed: the page is now this identity's. */
  began(identityId: string): void;
  /** Fails when the page stays signed in. */
  signOut(): Promise<void>;
}

/** The server has ended the session, or could not be told that it is over. */
export type Ending = 'ended' | 'untold';

const SessionContext = createContext<Session | undefined>(undefined);

/** The session of this page. @throws Error outside its provider */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error('there is no session here');
  return session;
}

/** The signed-in identity's id, for views that require one. */
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
  const [client] = useState(() => createTandemClient({ url: location.origin, mode, tokens, onSignedOut: () => leave('ended') }));
  const [people] = useState(() => createPeople(client));
  const [accessToken] = useState(() => () => tokens.load()?.accessToken);
  const [connection, setConnection] = useState(() => ({ client }));
  const [state, setState] = useState((): Pick<Session, 'identityId' | 'ending'> => ({
    identityId: mode === 'cookie' ? cookieOwner.load() : tokens.load()?.identityId,
    ending: undefined,
  }));

  /** Clears everything, so that nothing of one person is left for the next. */
  function leave(ending?: Ending): void {
    cookieOwner.clear();
    queries.clear();
    people.forget();
    setState({ identityId: undefined, ending });
  }

  // cookies are those of all tabs: a page of one person must not act for the next
  const follow = useEffectEvent((owner: string | undefined) => {
    if (mode !== 'cookie' || owner === state.identityId) return;
    if (owner !== undefined) client.followSignIn(owner);
    queries.clear();
    people.forget();
    setState({ identityId: owner, ending: owner === undefined ? 'ended' : undefined });
  });
  useEffect(() => cookieOwner.watch((owner) => follow(owner)), []);

  const session: Session = {
    client,
    people,
    settings,
    ...state,
    connection,
    accessToken,
    began(identityId) {
      queries.clear();
      people.forget();
      if (mode === 'cookie') cookieOwner.save(identityId);
      setState({ identityId, ending: undefined });
    },
    async signOut() {
      try {
        await client.signOut();
      } catch (error) {
        // tokens are forgotten by now, but only the server removes cookies
        if (mode !== 'cookie') return leave('untold');
        setConnection({ client });
        throw error;
      }
      leave();
    },
  };
  return <SessionContext value={session}>{children}</SessionContext>;
}
