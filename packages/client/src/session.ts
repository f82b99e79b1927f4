import type { SessionAnswer } from './auth-calls.js';

/** What a request was sent with. */
export interface Held {
  /** The sign-in: a call of one is never repeated in the name of another. */
  owner: string;
  /** Changes with each renewal: requests sent with the same key share one renewal. */
  key: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * The result of a renewal: `renewed`, the call may be repeated; `ended`, the server no longer knows the session;
 * `left`, the client has signed out, or another identity has signed in, since the call was sent.
 */
export type Renewal = 'renewed' | 'ended' | 'left';

/** Keeps the session of one mode. */
export interface Session {
  /** The texts of a 401 that mean: the access token is missing or old. */
  readonly curable: ReadonlySet<string>;
  /** What the next request is sent with; undefined when nobody is signed in. */
  hold(): Promise<Held | undefined>;
  /** @throws Error when the answer is of the other mode */
  start(answer: SessionAnswer): Promise<void>;
  /** @throws the refresh's error, when it failed without being refused; the session stays as it is */
  renew(held: Held): Promise<Renewal>;
  /** Another client has started a session of this identity with the same cookies. */
  follow?(identityId: string): void;
  /** Forgets the session here, and then ends it at the server. */
  end(): Promise<void>;
}

/** An access token that is undecryptable, expired, or of an ended session, so a refresh may help (decisions A2). */
export const UNVERIFIED = 'token could not be verified';
/** The access cookie is gone: browsers drop it when its token expires (decisions A3). */
export const NO_ACCESS_COOKIE = 'Unable to detect access token';
