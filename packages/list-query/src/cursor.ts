import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { NextTokenError } from './errors.js';
import type { SortValue } from './keyset.js';
import { LIMITS } from './limits.js';

/** Secrets for signing cursors. The first signs, all verify, so that secrets can be rotated while clients page. */
export type CursorSecret = string | Uint8Array | readonly (string | Uint8Array)[];

/** Where a page begins: after the row with these sort values, or at the first row; then `skip` rows further. */
export interface Cursor {
  after?: readonly SortValue[] | undefined;
  skip: number;
}

const MAC_BYTES = 16;
/** The most that `skip` adds to the characters of a token. */
const COUNT_CHARACTERS = 50;
const KEY_INFO = 'list-query cursor v1';

/** Derived keys by secret: few, and deriving one costs more than the rest of a cursor. */
const keys = new Map<string, Buffer>();

function keysOf(secret: CursorSecret): Buffer[] {
  const secrets = typeof secret === 'string' || secret instanceof Uint8Array ? [secret] : secret;
  if (secrets.length === 0 || secrets.some(({ length }) => length === 0)) throw new TypeError('A cursor secret is empty');
  return secrets.map((one) => {
    const id = Buffer.from(one).toString('base64');
    const key = keys.get(id) ?? Buffer.from(hkdfSync('sha256', one, '', KEY_INFO, 32));
    if (keys.size < 100) keys.set(id, key);
    return key;
  });
}

function sign(key: Buffer, binding: string, payload: Buffer): Buffer {
  return createHmac('sha256', key).update(`${binding.length}:${binding}`).update(payload).digest().subarray(0, MAC_BYTES);
}

/**
 * The token of a page, or undefined where the sort values are too long for one.
 * @param binding identifies the query; it is signed but not contained, so that the token works for that query only
 */
export function writeCursor({ after, skip }: Cursor, binding: string, secret: CursorSecret): string | undefined {
  const values = after?.map(pack);
  const payload = Buffer.from(JSON.stringify(values && skip === 0 ? values : { values, skip }));
  const [key] = keysOf(secret) as [Buffer];
  const token = Buffer.concat([sign(key, binding, payload), payload]).toString('base64url');
  // room for the count that a later page may add to the same values
  const room = skip === 0 ? COUNT_CHARACTERS : 0;
  return token.length > LIMITS.token - room ? undefined : token;
}

/**
 * Where the token's page begins.
 * @throws NextTokenError for a token that was not made for this query
 */
export function readCursor(token: string, binding: string, secret: CursorSecret): Cursor {
  if (token.length > LIMITS.token) throw new NextTokenError();
  const bytes = Buffer.from(token, 'base64url');
  // Buffer ignores invalid base64url characters, so many texts would decode to the same token.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== token) throw new NextTokenError();
  const [mac, payload] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)];
  if (!keysOf(secret).some((key) => timingSafeEqual(sign(key, binding, payload), mac))) throw new NextTokenError();
  const read = JSON.parse(payload.toString()) as Packed[] | { values?: Packed[]; skip: number };
  const { values, skip } = Array.isArray(read) ? { values: read, skip: 0 } : read;
  return { after: values?.map(unpack), skip };
}

/** JSON has no dates and no infinite numbers. */
type Packed = string | number | boolean | null | { d: number } | { n: string };

function pack(value: SortValue): Packed {
  if (value instanceof Date) return { d: value.getTime() };
  return typeof value === 'number' && !Number.isFinite(value) ? { n: String(value) } : value;
}

function unpack(packed: Packed): SortValue {
  if (typeof packed !== 'object' || packed === null) return packed;
  return 'd' in packed ? new Date(packed.d) : Number(packed.n);
}
