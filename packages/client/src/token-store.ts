/** The tokens of one sign-in, and its identity. */
export interface Tokens {
  identityId: string;
  accessToken: string;
  refreshToken: string;
}

/**
 * Stores a client's tokens in bearer mode. Several clients (tabs) may share one: the newest pair is valid for all.
 * `load` must return what the last `save` or `clear` of any of them left.
 */
export interface TokenStore {
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  save(tokens: Tokens): void | Promise<void>;
  clear(): void | Promise<void>;
}

/** A synchronous one. */
export interface MemoryTokenStore extends TokenStore {
  load(): Tokens | undefined;
  save(tokens: Tokens): void;
  clear(): void;
}

/** Keeps tokens in memory only, as long as the page or process lives. */
export function createMemoryTokenStore(kept?: Tokens): MemoryTokenStore {
  return {
    load: () => kept,
    save(tokens) {
      kept = tokens;
    },
    clear() {
      kept = undefined;
    },
  };
}
