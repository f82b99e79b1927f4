import { createHash, randomBytes } from 'node:crypto';

/** Codes of a set (decisions F1). */
const CODES = 10;
/** 80 bits, so that an unsalted hash tells nothing of a code. */
const CODE_BYTES = 10;
/** Without letters that are read as digits. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz023456789';
const GROUP = 4;

function encode(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{5}/g) ?? [];
  return letters.map((five) => ALPHABET[Number.parseInt(five, 2)]).join('');
}

/** New codes to be shown once: `k3fd-9qpz-…`. */
export function newRecoveryCodes(): string[] {
  const grouped = (code: string) => (code.match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
  return Array.from({ length: CODES }, () => grouped(encode(randomBytes(CODE_BYTES))));
}

/** The hash that is stored of a code, however it is typed; of another text, one that nothing has. */
export function recoveryCodeHash(code: string): string {
  return createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest('base64url');
}
