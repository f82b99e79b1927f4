import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Digits per code (decisions A10). */
const DIGITS = 6;

export type MfaCodes = ReturnType<typeof createMfaCodes>;

/**
 * Codes of MFA challenges: a keyed hash of the challenge and the mail's number, shortened to digits. Codes are computed when sent
 * and again when compared, and never stored.
 * @param secrets the first creates codes; all verify them
 */
export function createMfaCodes(secrets: readonly string[]) {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, 'tandem', 'mfa code', 32)));

  function make(key: Buffer, challenge: string, send: number): string {
    const hash = createHmac('sha256', key).update(`${challenge} ${send}`).digest();
    return String(hash.readBigUInt64BE() % 10n ** BigInt(DIGITS)).padStart(DIGITS, '0');
  }

  return {
    /**
     * @param challenge id of the challenge token
     * @param send number of the mail, from 1
     */
    make: (challenge: string, send: number): string => make(keys[0] as Buffer, challenge, send),

    /** Whether this is the code of the challenge's mail with this number. */
    isRight(code: string, challenge: string, send: number): boolean {
      const given = Buffer.from(code.padEnd(DIGITS).slice(0, DIGITS));
      const isSame = keys.map((key) => {
        const right = Buffer.from(make(key, challenge, send));
        return right.length === given.length && timingSafeEqual(right, given);
      });
      return code.length === DIGITS && isSame.includes(true);
    },
  };
}
