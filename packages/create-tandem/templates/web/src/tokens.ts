import type { TokenStore } from '@tandem/client';

const KEY = 'tandem.tokens';

/**
 * Keeps people signed in over reloads, in all tabs. Any script on the page can read it: a server in cookie mode, with
 * `mode="cookie"` at the TandemProvider instead of this, is safer.
 */
export const tokens: TokenStore = {
  load: () => JSON.parse(localStorage.getItem(KEY) ?? 'null') ?? undefined,
  save: (kept) => localStorage.setItem(KEY, JSON.stringify(kept)),
  clear: () => localStorage.removeItem(KEY),
};
