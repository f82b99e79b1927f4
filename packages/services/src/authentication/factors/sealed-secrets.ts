import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deriveKey } from '@tandem/core';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A secret as it is stored, in base64url, and the name of the key that sealed it. */
export interface Sealed {
  secret: string;
  sealedBy: string;
}

export type SealedSecrets = ReturnType<typeof createSealedSecrets>;

/**
 * Encrypts secrets of authenticator apps at rest (decisions F1).
 * @param secrets `authEncSecret`: the first seals, all open
 */
export function createSealedSecrets(secrets: readonly string[]) {
  const keys = secrets.map((secret) => {
    const key = deriveKey(secret, 'factor secrets');
    return { key, id: createHash('sha256').update(key).digest('base64url').slice(0, 8) };
  });
  const [first] = keys as [(typeof keys)[number]];

  return {
    /** Names the key that seals. */
    currentKey: first.id,

    /** @param owner whose secret it is: sealed for one, it does not open for another */
    seal(bytes: Uint8Array, owner: string): Sealed {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, first.key, iv).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
      return { secret: sealed.toString('base64url'), sealedBy: first.id };
    },

    /** @throws Error when the secret that sealed it is no longer configured, or it was sealed for another */
    open({ secret, sealedBy }: Sealed, owner: string): Buffer {
      const found = keys.find(({ id }) => id === sealedBy);
      if (!found) throw new Error('the secret that sealed a factor is not among authEncSecret');
      const sealed = Buffer.from(secret, 'base64url');
      const decipher = createDecipheriv(CIPHER, found.key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
    },
  };
}
