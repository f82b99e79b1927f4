import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  createElement,
  use,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react';
import { createLive, reopened, type Live, type LiveOptions } from './live.js';
import { createSessionStore, type SessionOptions, type SessionState, type SessionStore } from './session-store.js';
import { describeTandem, keyFor, type Tandem } from './tandem.js';

interface Shared {
  session: SessionStore;
  state: SessionState;
  tandem: Tandem;
  /** The streams of the signed-in identity. */
  live: Live | undefined;
}
const Context = createContext<Shared | undefined>(undefined);

export interface TandemProviderProps extends SessionOptions, Pick<LiveOptions, 'WebSocket'> {
  children?: ReactNode;
}

/**
 * Makes a client, and holds its session for the hooks below. Needs a `QueryClientProvider` above it. Reads its options
 * once: give it another `key` when they change.
 */
export function TandemProvider({ children, ...options }: TandemProviderProps): ReactElement {
  const queries = useQueryClient();
  const [session] = useState(() =>
    createSessionStore(options, (identityId) => queries.removeQueries({ queryKey: keyFor(identityId) })),
  );
  const { subscribe, get } = session.state;
  const state = useSyncExternalStore(subscribe, get, get);
  const [{ url, WebSocket }] = useState(options);
  const { identityId } = state;
  // who signs in again finds what could not be sent
  const [ownerId, setOwner] = useState(identityId);
  if (identityId !== undefined && ownerId !== identityId) setOwner(identityId);
  const kept = useMemo(() => {
    if (ownerId === undefined) return undefined;
    const isCurrent = () => session.state.get().identityId === ownerId;
    return createLive({ url, WebSocket, client: session.client, identityId: ownerId, isCurrent, queries });
  }, [url, WebSocket, session, ownerId, queries]);
  // a stream is of one sign-in: with the next, of the same identity too, the hooks open theirs anew
  const live = useMemo(() => (kept && state.identityId !== undefined ? reopened(kept) : undefined), [kept, state]);
  useEffect(() => session.watch(), [session]);
  useEffect(() => () => live?.close(), [live]);
  const tandem = useMemo(() => describeTandem(session.client, state, queries), [session, state, queries]);
  const shared = useMemo(() => ({ session, state, tandem, live }), [session, state, tandem, live]);
  return createElement(Context, { value: shared }, children);
}

export function useShared(): Shared {
  const shared = use(Context);
  if (!shared) throw new Error('put a TandemProvider above the components that use Tandem');
  return shared;
}

/** The client, and its calls in the form of TanStack Query. @throws Error outside a TandemProvider */
export function useTandem(): Tandem {
  return useShared().tandem;
}
