/** What tokens there are. Each has keys of its own, so that none can stand for another. */
export const TOKEN_TYPES = ['access', 'refresh', 'onetime'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

/** What a token says, once it is verified. */
export interface TokenClaims {
  type: TokenType;
  /** Id of the token itself: a UUID. */
  jti: string;
  /** Id of the identity. */
  sub: string;
  /** Id of the session, which is the family of its refresh tokens. */
  sid?: string;
  /** Hash of the fingerprint given at login. */
  fph?: string;
  /** What a one-time token is for. */
  target?: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
}

/** Why a token is refused. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  constructor(
    /** `unreadable`: not ours, altered, or expired; `wrong-type`: a good token of another type. */
    readonly reason: 'unreadable' | 'wrong-type',
    options?: ErrorOptions,
  ) {
    super(`token refused: ${reason}`, options);
  }
}
