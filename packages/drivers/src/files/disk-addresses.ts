import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { ADDRESS_MS, type StoredObject } from './files.driver.js';

/** Length of an HMAC-SHA256 in bytes. */
const SIGNATURE_BYTES = 32;

type Action = 'upload' | 'download';

/**
 * Signed URLs of this server: one HMAC covers action, object, type, size and expiry, so that none can be changed.
 * @param secrets the first signs, all verify
 * @param base the server's URL, without a trailing slash
 */
export function createDiskAddresses(secrets: readonly string[], base: string, now: () => Date) {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, 'tandem', 'file-addresses', 32)));

  function sign(key: Buffer, action: Action, { objectId, type, size }: StoredObject, expires: number): Buffer {
    // no part can contain a line break: types are checked when issued, the rest are numbers and ids
    return createHmac('sha256', key).update([action, objectId, type, size, expires].join('\n')).digest();
  }

  return {
    addressOf(action: Action, object: StoredObject, milliseconds = ADDRESS_MS): string {
      const expires = now().getTime() + Math.floor(milliseconds);
      const signature = sign(keys[0] as Buffer, action, object, expires).toString('base64url');
      const query = new URLSearchParams({ type: object.type, size: String(object.size), expires: String(expires), signature });
      return `${base}/files/${object.objectId}?${query.toString()}`;
    },

    /** What a URL grants. The signature is compared in constant time, before any other part of the URL is trusted. */
    read(action: Action, objectId: string, query: URLSearchParams): StoredObject | undefined {
      const [type, size, expires, signature] = ['type', 'size', 'expires', 'signature'].map((name) => {
        const values = query.getAll(name);
        return values.length === 1 ? (values[0] as string) : '';
      }) as [string, string, string, string];
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== SIGNATURE_BYTES || !/^\d{1,16}$/.test(size) || !/^\d{1,16}$/.test(expires)) return undefined;
      const object = { objectId, type, size: Number(size) };
      const isOurs = keys
        .map((key) => timingSafeEqual(sign(key, action, object, Number(expires)), given))
        .some((isEqual) => isEqual);
      return isOurs && Number(expires) > now().getTime() ? object : undefined;
    },
  };
}
