import { createMemoryTokenStore, type MemoryTokenStore, type Tokens } from '@tandem/client';

const KEY = 'tandem.tokens';

/** Takes the tokens of the previous page, so that they are stored nowhere while this page lives. */
function take(): Tokens | undefined {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
}

/**
 * Tokens of this tab alone: in memory, and in sessionStorage only between two pages of the tab. They survive a reload,
 * but not the tab. A duplicated tab copies an empty storage: it has to sign in, and never uses a refresh token twice.
 */
export function createTabTokens(): MemoryTokenStore {
  const tokens = createMemoryTokenStore(take());
  addEventListener('pagehide', () => {
    const kept = tokens.load();
    if (kept) sessionStorage.setItem(KEY, JSON.stringify(kept));
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    // the page was frozen (back-forward cache): a later page of this tab may have renewed the tokens, and what it
    // stored is for the next page
    tokens.clear();
    location.reload();
  });
  return tokens;
}
