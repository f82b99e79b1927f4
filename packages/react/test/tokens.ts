import { createMemoryTokenStore, type MemoryTokenStore } from '@tandem/client';
import type { Person } from '@tandem/testing';

/** The store of a page where somebody is signed in. */
export function tokensOf({ id: identityId, accessToken, refreshToken }: Person): MemoryTokenStore {
  return createMemoryTokenStore({ identityId, accessToken, refreshToken });
}
