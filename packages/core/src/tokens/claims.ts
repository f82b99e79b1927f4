/** Token types. Each has its own keys, so that no token can be used as another type. */
export const TOKEN_TYPES = ['access', 'refresh', 'onetime'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

/** The claims of a verified token. */
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
  /** The purpose of a one-time token. */
  target?: string;
  /** Seconds since 1970. */
  iat: number;
  exp: number;
}

/** Why a token is refused. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  constructor(
    /** `unreadable`: not ours, altered, or expired; `wrong-type`: a valid token of another type. */
    readonly reason: 'unreadable' | 'wrong-type',
    options?: ErrorOptions,
  ) {
    super(`token refused: ${reason}`, options);
  }
}
