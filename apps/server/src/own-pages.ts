import type { Config } from './config.js';

/**
 * The origins of the pages that may use the server, and the host of their passkeys. In development a server without a public address
 * is `localhost` too, since browsers make no passkeys for an address.
 * @param publicUrl of the server
 */
export function ownPages(
  { development, publicUrl: given, passkeyRpId, corsOrigins }: Config,
  publicUrl: string,
): { allowedOrigins: string[]; passkeyRpId?: string } {
  const own = [new URL(publicUrl).origin];
  if (!development || given !== undefined || passkeyRpId !== undefined)
    return { allowedOrigins: [...own, ...corsOrigins], ...(passkeyRpId !== undefined && { passkeyRpId }) };
  const { origin, hostname } = Object.assign(new URL(publicUrl), { hostname: 'localhost' });
  return { allowedOrigins: [...own, origin, ...corsOrigins], passkeyRpId: hostname };
}
