import { LRUCache } from 'lru-cache';
import type { TokenClaims } from './claims.js';

/** How many tokens are remembered. */
const CAPACITY = 20_000;

/** Remembers what tokens say, so that each is decrypted at most once. Whether they still count is not its business. */
export function createTokenCache() {
  const entries = new LRUCache<string, Promise<TokenClaims>>({ max: CAPACITY });
  return {
    add: (token: string, claims: TokenClaims): void => void entries.set(token, Promise.resolve(claims)),

    /** What the token says, by `read` if it is not known yet; concurrent callers share one reading. @throws what `read` throws */
    get(token: string, read: (token: string) => Promise<TokenClaims>): Promise<TokenClaims> {
      const known = entries.get(token);
      if (known) return known;
      const reading = read(token);
      entries.set(token, reading);
      reading.catch(() => entries.peek(token) === reading && entries.delete(token));
      return reading;
    },
  };
}
