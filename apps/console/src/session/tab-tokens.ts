import { createMemoryTokenStore, type MemoryTokenStore, type Tokens } from '@tandem/client';

const KEY = 'tandem.tokens';

/** Takes the tokens of the previous page, so that they are stored nowhere while this page lives. */
function take(): Tokens | undefined {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as Tokens);
}

/** How long a page that is being left may stay before it counts as not left, as after a link to a mail program: in milliseconds. */
const LEAVING_MS = 2000;

/**
 * Tokens of this tab alone: in memory, and in sessionStorage only between two pages of the tab. They survive a reload,
 * but not the tab. A duplicated tab copies an empty storage: it has to sign in, and never uses a refresh token twice.
 */
export function createTabTokens(): MemoryTokenStore {
  const tokens = createMemoryTokenStore(take());
  let leaving: ReturnType<typeof setTimeout> | undefined;
  function store(): boolean {
    const kept = tokens.load();
    if (kept) sessionStorage.setItem(KEY, JSON.stringify(kept));
    return kept !== undefined;
  }
  function stay(): void {
    clearTimeout(leaving);
    leaving = undefined;
  }
  // on the way to another site's page browsers run `pagehide` late, or never when the machine is busy
  addEventListener('beforeunload', () => {
    stay();
    if (store()) leaving = setTimeout(() => (stay(), take()), LEAVING_MS);
  });
  addEventListener('pagehide', () => {
    // nothing is left there where the next page has already taken them
    if (leaving === undefined || sessionStorage.getItem(KEY) !== null) store();
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    // the page was frozen (back-forward cache): a later page of this tab may have renewed the tokens, and what it
    // stored is for the next page
    stay();
    tokens.clear();
    location.reload();
  });
  return tokens;
}
