import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import { usedChallengeModel } from './passkey-challenge.model.js';

/** Lifetime of a challenge (decisions F4). */
const LIFE_MS = 5 * 60_000;
/** How long its use is remembered beyond that: the store removes it by its own clock, which may be ahead of this machine's. */
const REMEMBERED_MS = 60 * 60_000;
const TIME_BYTES = 6;
const RANDOM_BYTES = 18;
const TAG_BYTES = 16;
const SIGNED_BYTES = TIME_BYTES + RANDOM_BYTES;

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/**
 * Challenges for passkeys: random, signed, and stored only once they were answered, so that anybody may ask for one at the cost of
 * a hash. Each is answered once.
 * @param secrets the first signs, all are accepted
 */
export function createPasskeyChallenges(storage: Storage, secrets: readonly string[]) {
  const { clock } = storage;
  const Used = storage.model(usedChallengeModel);
  const keys = secrets.map((secret) => deriveKey(secret, 'passkey challenges'));

  function tagOf(key: Buffer, signed: Uint8Array, purpose: string): Buffer {
    return createHmac('sha256', key).update(signed).update(purpose).digest().subarray(0, TAG_BYTES);
  }

  return {
    /** @param purpose what the answer may be used for, and by whom */
    make(purpose: string): Uint8Array<ArrayBuffer> {
      const signed = randomBytes(SIGNED_BYTES);
      signed.writeUIntBE(clock.now().getTime() + LIFE_MS, 0, TIME_BYTES);
      return Uint8Array.from([...signed, ...tagOf(keys[0] as Buffer, signed, purpose)]);
    },

    /** Takes a challenge that was answered, in base64url. @returns false unless it is ours, for this purpose, in time and new */
    async take(challenge: unknown, purpose: string): Promise<boolean> {
      // whatever the browser's answer has there
      if (typeof challenge !== 'string') return false;
      const bytes = Buffer.from(challenge, 'base64url');
      if (bytes.length !== SIGNED_BYTES + TAG_BYTES || bytes.toString('base64url') !== challenge) return false;
      const [signed, tag] = [bytes.subarray(0, SIGNED_BYTES), bytes.subarray(SIGNED_BYTES)];
      if (!keys.some((key) => timingSafeEqual(tagOf(key, signed, purpose), tag))) return false;
      const expiresAt = new Date(signed.readUIntBE(0, TIME_BYTES));
      if (expiresAt <= clock.now()) return false;
      try {
        const rememberedUntil = new Date(expiresAt.getTime() + REMEMBERED_MS);
        await Used.create({ _id: createHash('sha256').update(bytes).digest('base64url'), expiresAt: rememberedUntil });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
