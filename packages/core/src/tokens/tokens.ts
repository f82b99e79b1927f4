import { randomUUID } from 'node:crypto';
import { compactDecrypt, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../context.js';
import { createTokenCache } from './cache.js';
import { TOKEN_TYPES, TokenError, type TokenClaims, type TokenType } from './claims.js';
import { createKeyRing, type TokenKeys } from './keys.js';
import { writeHeader, writeToken } from './write.js';

/** The contents of a token to make. */
export interface TokenRequest {
  sub: string;
  /** Expiry. Rounded to whole seconds, the precision of the claim. */
  expiresAt: Date;
  /** Given where a token must repeat another's id: the second answer to one refresh. */
  jti?: string;
  sid?: string;
  fph?: string;
  target?: string;
}

export interface Tokens {
  /** Makes a token. It is cached, so reading it on this instance costs nothing. */
  issue(type: TokenType, request: TokenRequest): string;
  /**
   * The claims of a token. Decrypts a token at most once, however many callers ask concurrently.
   * @throws TokenError
   */
  verify(type: TokenType, token: string): Promise<TokenClaims>;
  /** The same for a token that may have expired. Use it only to end what the token once granted. */
  verifyEvenExpired(type: TokenType, token: string): Promise<TokenClaims>;
}

export interface TokenOptions {
  /**
   * The first of each list makes tokens, all read them, so that secrets can be rotated (decisions A4). At least 32
   * bytes each.
   */
  signSecrets: readonly string[];
  encSecrets: readonly string[];
  clock: Clock;
}

const ISSUER = 'tandem';
/** Longest accepted token, in characters: ours have about 600. */
const TOKEN_MAX_LENGTH = 4096;

const decoder = new TextDecoder();

/**
 * Whether a token is in our exact encoding: decoders ignore spaces, padding and spare bits, which would give one token
 * many texts.
 */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/**
 * Makes and reads nested tokens: a signed JWT inside an encrypted one, so that clients cannot read the claims
 * (decisions A4).
 */
export async function createTokens({ signSecrets, encSecrets, clock }: TokenOptions): Promise<Tokens> {
  const writers = new Map<TokenType, (payload: object) => string>();
  /**
   * Keys by the text of the token's header. A header that is not exactly one of these is never parsed, so it cannot
   * choose an algorithm.
   */
  const readers = new Map<string, { type: TokenType; keys: TokenKeys }>();
  for (const type of TOKEN_TYPES) {
    const ring = await createKeyRing(type, signSecrets, encSecrets);
    for (const [at, keys] of ring.entries()) {
      const header = writeHeader(type, keys.keyId);
      readers.set(header, { type, keys });
      if (at === 0) writers.set(type, (payload) => writeToken(header, payload, keys.writing));
    }
  }
  const cache = createTokenCache();

  async function open(token: string): Promise<TokenClaims> {
    const reader = token.length > TOKEN_MAX_LENGTH ? undefined : readers.get(token.split('.', 1)[0] as string);
    if (!reader || !isCanonical(token)) throw new TokenError('unreadable');
    const { type, keys } = reader;
    try {
      const { plaintext } = await compactDecrypt(token, keys.decrypt, {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      const { payload } = await jwtVerify<JWTPayload & TokenClaims>(decoder.decode(plaintext), keys.verify, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: type,
        requiredClaims: ['sub', 'jti', 'iat', 'exp'],
        // expiry is checked below, on each use
        currentDate: new Date(0),
      });
      if (payload.type !== type) throw new TokenError('unreadable');
      return payload;
    } catch (cause) {
      throw new TokenError('unreadable', { cause });
    }
  }

  async function verifyEvenExpired(type: TokenType, token: string): Promise<TokenClaims> {
    const claims = await cache.get(token, open);
    if (claims.type !== type) throw new TokenError('wrong-type');
    return claims;
  }

  return {
    verifyEvenExpired,

    issue(type, { sub, expiresAt, jti, sid, fph, target }) {
      const write = writers.get(type);
      if (!write) throw new Error(`no keys for ${type} tokens`);
      const now = clock.now();
      const claims: TokenClaims = {
        type,
        jti: jti ?? randomUUID(),
        sub,
        ...(sid !== undefined && { sid }),
        ...(fph !== undefined && { fph }),
        ...(target !== undefined && { target }),
        iat: Math.floor(now.getTime() / 1000),
        exp: Math.floor(expiresAt.getTime() / 1000),
      };
      const token = write({ ...claims, iss: ISSUER, aud: type });
      cache.add(token, claims);
      return token;
    },

    async verify(type, token) {
      const claims = await verifyEvenExpired(type, token);
      if (claims.exp * 1000 <= clock.now().getTime()) throw new TokenError('unreadable');
      return claims;
    },
  };
}
