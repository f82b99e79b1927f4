import type { AuthCalls } from './auth-calls.js';
import { isRefusal } from './failure.js';
import { UNVERIFIED, type Held, type Renewal, type Session } from './session.js';
import type { TokenStore, Tokens } from './token-store.js';

/** What the store says about a call sent with other tokens than it now holds. */
function comparedWith(held: Held, stored: Tokens | undefined): Renewal {
  if (!stored) return 'ended';
  return stored.identityId === held.owner ? 'renewed' : 'left';
}

/**
 * A session whose tokens are in a store that other clients may share. It overwrites or clears only the pair that it
 * exchanged itself, so that a newer pair of another client stays.
 */
export function createBearerSession(store: TokenStore, calls: AuthCalls): Session {
  /** Replaces the exchanged pair, unless another client was faster. */
  async function replace(exchanged: Tokens, by: Tokens | undefined): Promise<Tokens | undefined> {
    const stored = await store.load();
    if (stored?.refreshToken !== exchanged.refreshToken) return stored;
    await (by ? store.save(by) : store.clear());
    return by;
  }

  async function exchange(tokens: Tokens): Promise<Tokens | undefined> {
    try {
      const pair = await calls.refresh(tokens.refreshToken);
      if (!pair) throw new Error("the server keeps tokens in cookies: make the client with mode 'cookie'");
      return { identityId: tokens.identityId, ...pair };
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  return {
    curable: new Set([UNVERIFIED]),

    async hold() {
      const tokens = await store.load();
      if (!tokens) return undefined;
      const headers = { authorization: `Bearer ${tokens.accessToken}` };
      return { owner: tokens.identityId, key: tokens.accessToken, headers };
    },

    async start(answer) {
      if (!('accessToken' in answer)) throw new Error("the server keeps tokens in cookies: make the client with mode 'cookie'");
      const { id: identityId, accessToken, refreshToken } = answer;
      await store.save({ identityId, accessToken, refreshToken });
    },

    async renew(held) {
      const stored = await store.load();
      if (stored?.accessToken !== held.key) return comparedWith(held, stored);
      return comparedWith(held, await replace(stored, await exchange(stored)));
    },

    async end() {
      const tokens = await store.load();
      await store.clear();
      if (tokens) await calls.logout(tokens);
    },
  };
}
