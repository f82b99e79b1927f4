import { randomUUID } from 'node:crypto';
import { CompactEncrypt, CompactSign, compactDecrypt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../context.js';
import { createTokenCache } from './cache.js';
import { TOKEN_TYPES, TokenError, type TokenClaims, type TokenType } from './claims.js';
import { createKeyRing, type TokenKeys } from './keys.js';

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
  issue(type: TokenType, request: TokenRequest): Promise<string>;
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
const SIGNATURE = 'HS256';
const KEY_MANAGEMENT = 'dir';
const ENCRYPTION = 'A256GCM';
/** Longest token that is looked at, in characters: ours have some 600. */
const TOKEN_MAX_LENGTH = 4096;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function isTokenType(value: unknown): value is TokenType {
  return TOKEN_TYPES.includes(value as TokenType);
}

/** Whether a token is written as we write it: a decoder would pass over spaces, padding and spare bits, so that one token had many texts. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

/** The outer header of a token: which keys to try. It is not trusted for anything else. */
function readHeader(token: string): { type: TokenType; keyId: string } {
  try {
    if (token.length > TOKEN_MAX_LENGTH || !isCanonical(token)) throw new errors.JWEInvalid('too long, or not as we write');
    const { typ, kid } = decodeProtectedHeader(token);
    if (!isTokenType(typ) || typeof kid !== 'string') throw new errors.JWEInvalid('no type or key');
    return { type: typ, keyId: kid };
  } catch (cause) {
    throw new TokenError('unreadable', { cause });
  }
}

/** Makes and reads nested tokens: a signed JWT inside an encrypted one (decisions A4). */
export async function createTokens({ signSecrets, encSecrets, clock }: TokenOptions): Promise<Tokens> {
  const rings = new Map<TokenType, TokenKeys[]>();
  for (const type of TOKEN_TYPES) rings.set(type, await createKeyRing(type, signSecrets, encSecrets));
  const known = createTokenCache();

  async function open(token: string): Promise<TokenClaims> {
    const { type, keyId } = readHeader(token);
    const keys = rings.get(type)?.find((candidate) => candidate.keyId === keyId);
    if (!keys) throw new TokenError('unreadable');
    try {
      const { plaintext } = await compactDecrypt(token, keys.encrypt, {
        keyManagementAlgorithms: [KEY_MANAGEMENT],
        contentEncryptionAlgorithms: [ENCRYPTION],
      });
      const { payload } = await jwtVerify<JWTPayload & TokenClaims>(decoder.decode(plaintext), keys.sign, {
        algorithms: [SIGNATURE],
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

    async issue(type, { sub, expiresAt, jti, sid, fph, target }) {
      const keys = rings.get(type)?.[0];
      if (!keys) throw new Error(`no keys for ${type} tokens`);
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
      const payload = { ...claims, iss: ISSUER, aud: type };
      // the payload is ours and complete: SignJWT would copy and check it first
      const signed = await new CompactSign(encoder.encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: SIGNATURE })
        .sign(keys.sign);
      const token = await new CompactEncrypt(encoder.encode(signed))
        .setProtectedHeader({ alg: KEY_MANAGEMENT, enc: ENCRYPTION, typ: type, kid: keys.keyId, cty: 'JWT' })
        .encrypt(keys.encrypt);
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
