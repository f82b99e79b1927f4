import { LRUCache } from 'lru-cache';
import { atMost } from '../at-most.js';
import type { TokenClaims } from './claims.js';

/** Tokens remembered; the least recently used is dropped first. */
const CAPACITY = 20_000;

/** Caches the claims of tokens, so that each is decrypted at most once. It does not check whether they are still valid. */
export function createTokenCache() {
  const entries = new LRUCache<string, Promise<TokenClaims>>(atMost(CAPACITY));
  return {
    add: (token: string, claims: TokenClaims): void => void entries.set(token, Promise.resolve(claims)),

    /** The token's claims, read by `read` if unknown; concurrent callers share one read. @throws what `read` throws */
    get(token: string, read: (token: string) => Promise<TokenClaims>): Promise<TokenClaims> {
      const entry = entries.get(token);
      if (entry) return entry;
      const reading = read(token);
      entries.set(token, reading);
      reading.catch(() => entries.peek(token) === reading && entries.delete(token));
      return reading;
    },
  };
}
