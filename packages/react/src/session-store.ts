import {
  MfaRequiredError,
  SenderGone,
  TandemError,
  createMemoryTokenStore,
  createTandemClient,
  type TandemClientOptions,
  type TokenStore,
} from '@tandem/client';
import { createStore } from './store.js';
import type { Router } from './tandem.js';

export type SessionOptions = Omit<TandemClientOptions, 'onSignedOut'>;

export interface SessionState {
  /** `loading` until the token store has answered. */
  status: 'loading' | 'signed-in' | 'signed-out';
  /** The signed-in identity; undefined when signed out. */
  identityId: string | undefined;
  /** Whether the server has ended the last session: it expired, or its password was changed. */
  hasEnded: boolean;
}

const stateOf = (identityId: string | undefined, hasEnded = false): SessionState => ({
  status: identityId === undefined ? 'signed-out' : 'signed-in',
  identityId,
  hasEnded,
});

/** Part of the Web Storage API, which Node and React Native may lack. */
interface WebStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}
const KEY = 'tandem.identityId';

/** The global functions that tell of changes by other tabs, which Node and React Native may lack. */
type Listening = (type: 'storage', listener: (event: { key: string | null }) => void) => void;

/** In cookie mode scripts cannot read whose session it is. Its id is kept where all tabs see it, as they do the cookies. */
function createCookieOwner() {
  const page = globalThis as { localStorage?: WebStorage; addEventListener?: Listening; removeEventListener?: Listening };
  const { localStorage } = page;
  return {
    /** Tells of what another tab has saved. @returns a function that ends it */
    watch(onChange: () => void): () => void {
      const listener: Parameters<Listening>[1] = ({ key }) => (key === KEY || key === null) && onChange();
      page.addEventListener?.('storage', listener);
      return () => page.removeEventListener?.('storage', listener);
    },
    load: () => localStorage?.getItem(KEY) ?? undefined,
    save: (identityId: string | undefined) =>
      identityId === undefined ? localStorage?.removeItem(KEY) : localStorage?.setItem(KEY, identityId),
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;

/**
 * A client that knows whether somebody is signed in.
 * @param forget called when an identity has left
 */
export function createSessionStore(
  { tokens = createMemoryTokenStore(), ...options }: SessionOptions,
  forget: (identityId: string) => void,
) {
  // a page of one person must not go on when another tab has signed in as the next, or signed out
  const followed: TokenStore = {
    async load() {
      // the call that asks is of who is signed in now
      const { identityId } = store.get();
      const kept = await tokens.load();
      follow(kept?.identityId);
      if (kept && identityId !== undefined && kept.identityId !== identityId)
        throw new SenderGone('not sent: somebody else has signed in');
      return kept;
    },
    save: (pair) => tokens.save(pair),
    clear: () => tokens.clear(),
  };
  const client = createTandemClient<Router>({ ...options, tokens: followed, onSignedOut: () => change(undefined, true) });
  const owner = options.mode === 'cookie' ? createCookieOwner() : undefined;
  const kept = owner ? owner.load() : tokens.load();
  const isLoading = typeof kept === 'object' && 'then' in kept;
  const store = createStore<SessionState>(
    isLoading
      ? { status: 'loading', identityId: undefined, hasEnded: false }
      : stateOf(typeof kept === 'object' ? kept.identityId : kept),
  );
  if (isLoading)
    void kept.then(
      (found) => store.set(stateOf(found?.identityId)),
      () => store.set(stateOf(undefined)),
    );

  function change(identityId: string | undefined, hasEnded = false): void {
    const before = store.get().identityId;
    owner?.save(identityId);
    store.set(stateOf(identityId, hasEnded));
    if (before !== undefined && before !== identityId) forget(before);
  }

  function follow(identityId: string | undefined): void {
    if (identityId === store.get().identityId) return;
    if (identityId !== undefined) client.followSignIn(identityId);
    change(identityId);
  }

  /** Makes a sign-in of the client one that begins the session here. */
  const beginning =
    <Input>(signIn: (input: Input) => Promise<{ id: string }>) =>
    async (input: Input): Promise<{ id: string }> => {
      try {
        const { id } = await signIn(input);
        change(id);
        return { id };
      } catch (error) {
        throw error instanceof MfaRequiredError ? error : new TandemError(error);
      }
    };

  // most sign-ins need none
  const passkeys = async () => (await import('@tandem/client/passkeys')).createPasskeys(client);

  return {
    client,
    state: store,
    /** Follows other tabs that share the cookies. @returns a function that ends it */
    watch: () => owner?.watch(() => follow(owner.load())),
    signIn: beginning(client.signIn),
    signInByToken: beginning(client.signInByToken),
    signInByPasskey: beginning(async (_?: undefined) => (await passkeys()).signIn()),
    verifyMfa: beginning(client.verifyMfa),
    /** The second step by a passkey, of which the browser asks. */
    verifyMfaByPasskey: beginning(async (token: string) => (await passkeys()).verifyMfa(token)),
    signUp: beginning(client.signUp),
    resendMfa: (token: string) =>
      client.resendMfa(token).catch((error: unknown) => {
        throw new TandemError(error);
      }),
    async signOut(): Promise<void> {
      try {
        await client.signOut();
        if (owner) change(undefined);
      } catch (error) {
        // cookies are not forgotten, but streams may have ended meanwhile
        if (owner) store.set({ ...store.get() });
        throw new TandemError(error);
      } finally {
        // tokens are, whatever the outcome, but somebody may have signed in meanwhile
        const kept = owner ? undefined : await tokens.load();
        if (kept) follow(kept.identityId);
        else if (!owner) change(undefined);
      }
    },
  };
}
