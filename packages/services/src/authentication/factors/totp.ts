import { Secret, TOTP } from 'otpauth';

/** Seconds for which a code is valid (decisions F1). */
const PERIOD = 30;
const SECRET_BYTES = 20;
/** Steps to either side whose codes are accepted too, because clocks differ (decisions F3). */
const WINDOW = 1;

const TERMS = { algorithm: 'SHA1', digits: 6, period: PERIOD } as const;

/** A new secret. */
export const newTotpSecret = (): Secret => new Secret({ size: SECRET_BYTES });

/** The address that an authenticator app reads, usually as a QR code. */
export function totpUri(secret: Secret, { issuer, label }: { issuer: string; label: string }): string {
  return new TOTP({ ...TERMS, secret, issuer, label }).toString();
}

/** The time step whose code this is, counted from 1970 in periods; undefined for a wrong code. Apps show `123 456`. */
export function stepOf(given: string, secret: Uint8Array, now: Date): number | undefined {
  const code = given.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(code)) return undefined;
  const totp = new TOTP({ ...TERMS, secret: new Secret({ buffer: new Uint8Array(secret).buffer }) });
  const timestamp = now.getTime();
  const delta = totp.validate({ token: code, timestamp, window: WINDOW });
  return delta === null ? undefined : TOTP.counter({ period: PERIOD, timestamp }) + delta;
}
