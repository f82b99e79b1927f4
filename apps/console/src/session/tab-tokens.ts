import { createMemoryTokenStore, type MemoryTokenStore, type Tokens } from '@tandem/client';

const KEY = 'tandem.tokens';

/** Takes what the page before has left, so that it lies nowhere while this page lives. */
function take(): Tokens | undefined {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
}

/**
 * Tokens of this tab alone. They are in memory, and in sessionStorage only from the end of a page until the same tab's next one begins: they
 * outlive a reload, not the tab. A copy of the tab is a copy of an empty storage: it has to sign in, and never uses a refresh token twice.
 */
export function createTabTokens(): MemoryTokenStore {
  const tokens = createMemoryTokenStore(take());
  addEventListener('pagehide', () => {
    const kept = tokens.load();
    if (kept) sessionStorage.setItem(KEY, JSON.stringify(kept));
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    // frozen since: a later page of this tab may have renewed them, and what it left is for the page that comes now
    tokens.clear();
    location.reload();
  });
  return tokens;
}
