import { createHash, createSecretKey, hkdfSync, webcrypto } from 'node:crypto';
import type { TokenType } from './claims.js';
import type { WritingKeys } from './write.js';

/** The two keys of one token type, derived from one pair of secrets. */
export interface TokenKeys {
  /** Identifies the pair in a token's header without revealing anything of it. */
  keyId: string;
  verify: CryptoKey;
  decrypt: CryptoKey;
  /** The same two keys, for signing and encrypting. */
  writing: WritingKeys;
}

type CryptoKey = webcrypto.CryptoKey;

/** Least length of a secret, in bytes: the length of the keys derived from it (decisions A4). */
export const SECRET_MIN_BYTES = 32;

/** Derives a 32-byte key for one purpose; it reveals neither the secret nor the keys of other purposes. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'tandem', purpose, 32));
}

async function createKeys(type: TokenType, signSecret: string, encSecret: string): Promise<TokenKeys> {
  const signBytes = deriveKey(signSecret, `${type} sign`);
  const encryptBytes = deriveKey(encSecret, `${type} encrypt`);
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return {
    keyId: createHash('sha256').update(signBytes).update(encryptBytes).digest('base64url').slice(0, 8),
    // imported once: jose would import raw bytes for each token
    verify: await webcrypto.subtle.importKey('raw', signBytes, hmac, false, ['verify']),
    decrypt: await webcrypto.subtle.importKey('raw', encryptBytes, 'AES-GCM', false, ['decrypt']),
    writing: { sign: createSecretKey(signBytes), encrypt: createSecretKey(encryptBytes) },
  };
}

/**
 * The keys of a token type: the first pair makes tokens, all pairs read them. Every combination of the two lists is
 * accepted, so that either secret can be rotated alone.
 * @throws Error when a secret is missing or shorter than 32 bytes
 */
export function createKeyRing(
  type: TokenType,
  signSecrets: readonly string[],
  encSecrets: readonly string[],
): Promise<TokenKeys[]> {
  for (const [name, secrets] of Object.entries({ authSignSecret: signSecrets, authEncSecret: encSecrets })) {
    const isLongEnough = (secret: string) => Buffer.byteLength(secret) >= SECRET_MIN_BYTES;
    if (secrets.length === 0 || !secrets.every(isLongEnough))
      throw new Error(`${name} must have at least ${SECRET_MIN_BYTES} bytes in each secret`);
  }
  return Promise.all(encSecrets.flatMap((encSecret) => signSecrets.map((signSecret) => createKeys(type, signSecret, encSecret))));
}
