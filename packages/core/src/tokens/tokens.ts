import { randomUUID } from 'node:crypto';
import { compactDecrypt, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../context.js';
import { createTokenCache } from './cache.js';
import { TOKEN_TYPES, TokenError, type TokenClaims, type TokenType } from './claims.js';
import { createKeyRing, type TokenKeys } from './keys.js';
import { writeHeader, writeToken } from './write.js';

/** What the maker of a token decides. */
export interface TokenRequest {
  sub: string;
  /** When it ends. Whole seconds count: the wire has no finer. */
  expiresAt: Date;
  /** Given where the token must have the same id as another: the second answer to one refresh. */
  jti?: string;
  sid?: string;
  fph?: string;
  target?: string;
}

export interface Tokens {
  /** Makes a token. It is known from then on: reading it back on this instance costs nothing. */
  issue(type: TokenType, request: TokenRequest): string;
  /**
   * What a token says. Costs at most one decryption per token, however many ask at once.
   * @throws TokenError
   */
  verify(type: TokenType, token: string): Promise<TokenClaims>;
  /** The same of a token that may have expired: for ending what it once stood for, and for nothing else. */
  verifyEvenExpired(type: TokenType, token: string): Promise<TokenClaims>;
}

export interface TokenOptions {
  /** The first of each list makes tokens, all read them (decisions A4). At least 32 bytes each. */
  signSecrets: readonly string[];
  encSecrets: readonly string[];
  clock: Clock;
}

const ISSUER = 'tandem';
/** Longest token that is looked at, in characters: ours have some 600. */
const TOKEN_MAX_LENGTH = 4096;

const decoder = new TextDecoder();

/** Whether a token is written as we write it: a decoder would pass over spaces, padding and spare bits, so that one token had many texts. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** Makes and reads nested tokens: a signed JWT inside an encrypted one (decisions A4). */
export async function createTokens({ signSecrets, encSecrets, clock }: TokenOptions): Promise<Tokens> {
  const writers = new Map<TokenType, (payload: object) => string>();
  /** By the text of their header. What is not exactly one of these is never parsed: a header can ask for nothing. */
  const readers = new Map<string, { type: TokenType; keys: TokenKeys }>();
  for (const type of TOKEN_TYPES) {
    const ring = await createKeyRing(type, signSecrets, encSecrets);
    for (const [at, keys] of ring.entries()) {
      const header = writeHeader(type, keys.keyId);
      readers.set(header, { type, keys });
      if (at === 0) writers.set(type, (payload) => writeToken(header, payload, keys.writing));
    }
  }
  const known = createTokenCache();

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
        // whether it has expired is asked below, each time it is used
        currentDate: new Date(0),
      });
      if (payload.type !== type) throw new TokenError('unreadable');
      return payload;
    } catch (cause) {
      throw new TokenError('unreadable', { cause });
    }
  }

  async function verifyEvenExpired(type: TokenType, token: string): Promise<TokenClaims> {
    const claims = await known.get(token, open);
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
      known.add(token, claims);
      return token;
    },

    async verify(type, token) {
      const claims = await verifyEvenExpired(type, token);
      if (claims.exp * 1000 <= clock.now().getTime()) throw new TokenError('unreadable');
      return claims;
    },
  };
}
