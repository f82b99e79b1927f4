import type { TokenClaims } from './claims.js';

/** How many tokens are remembered. The one that was asked for longest ago goes first. */
const CAPACITY = 20_000;

/** Remembers what tokens say, so that each is decrypted at most once. Whether they still count is not its business. */
export function createTokenCache() {
  const entries = new Map<string, TokenClaims>();
  const opening = new Map<string, Promise<TokenClaims>>();

  function add(token: string, claims: TokenClaims): void {
    // deleted first: a Map keeps the order of insertion, and that order says who goes
    entries.delete(token);
    entries.set(token, claims);
    if (entries.size > CAPACITY) entries.delete(entries.keys().next().value as string);
  }

  async function open(token: string, read: (token: string) => Promise<TokenClaims>): Promise<TokenClaims> {
    try {
      const claims = await read(token);
      add(token, claims);
      return claims;
    } finally {
      opening.delete(token);
    }
  }

  return {
    add,
    /** What the token says, by `read` if it is not known yet; callers at once share one reading. Throws what `read` throws. */
    async get(token: string, read: (token: string) => Promise<TokenClaims>): Promise<TokenClaims> {
      const claims = entries.get(token);
      if (claims) {
        add(token, claims);
        return claims;
      }
      let pending = opening.get(token);
      if (!pending) opening.set(token, (pending = open(token, read)));
      return pending;
    },
  };
}
