import type { Session } from './session.js';

const NO_SIGN_IN = 'a client with an API key acts as the identity of the key: make another client to sign in';

/** Access by an API key, which nothing renews. */
export function createKeySession(apiKey: string): Session {
  const held = { owner: 'key', key: 'key', headers: { authorization: `Bearer ${apiKey}` } };
  return {
    curable: new Set(),
    hold: () => Promise.resolve(held),
    start: () => Promise.reject(new Error(NO_SIGN_IN)),
    renew: () => Promise.resolve('ended'),
    end: () => Promise.resolve(),
  };
}
