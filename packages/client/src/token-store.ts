/** The tokens of one sign-in, and whose they are. */
export interface Tokens {
  identityId: string;
  accessToken: string;
  refreshToken: string;
}

/**
 * Where a client in bearer mode keeps its tokens. Several clients (tabs) may share one: the newest pair counts for all of them.
 * `load` must answer what the last `save` or `clear` of any of them left.
 */
export interface TokenStore {
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  save(tokens: Tokens): void | Promise<void>;
  clear(): void | Promise<void>;
}

/** One that answers at once. */
export interface MemoryTokenStore extends TokenStore {
  load(): Tokens | undefined;
  save(tokens: Tokens): void;
  clear(): void;
}

/** Keeps tokens for as long as the page or the process lives, and nowhere else. */
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
