import { createHash, randomBytes } from 'node:crypto';
import { KEY_PREFIX } from '@tandem/core';

const SECRET_BYTES = 32;
const CHECKSUM_BYTES = 4;
/** Both in base64url, in which 36 bytes have 48 characters. */
const KEY = new RegExp(`^${KEY_PREFIX}([\\w-]{48})$`);

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest();
const checksumOf = (secret: Buffer) => sha256(secret).subarray(0, CHECKSUM_BYTES);

/** Makes a key: `tdm_`, then a random secret with its checksum. */
export function makeKey(): string {
  const secret = randomBytes(SECRET_BYTES);
  return KEY_PREFIX + Buffer.concat([secret, checksumOf(secret)]).toString('base64url');
}

/** What is stored of a key. Undefined for a text that cannot be one: typing errors cost no look-up. */
export function hashOfKey(key: string): string | undefined {
  const bytes = Buffer.from(KEY.exec(key)?.[1] ?? '', 'base64url');
  if (!checksumOf(bytes.subarray(0, SECRET_BYTES)).equals(bytes.subarray(SECRET_BYTES))) return undefined;
  return sha256(key).toString('base64url');
}
