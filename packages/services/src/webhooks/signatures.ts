import { createHmac, randomBytes } from 'node:crypto';

/** How long a secret still signs after its rotation, in milliseconds (decisions E2). */
export const ROTATED_MS = 24 * 60 * 60_000;
/** Most secrets that sign at once. */
export const SECRETS_MAX = 5;
const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A secret of a webhook. */
export interface StoredSecret {
  secret: string;
  /** Null for the newest. */
  expiresAt: Date | null;
}

export function newSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/**
 * The headers of Standard Webhooks for a message: a signature for each secret that has not expired.
 * @param id the same at every try
 */
export function signedHeaders(secrets: readonly StoredSecret[], now: Date, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signatures = secrets
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map(({ secret }) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
