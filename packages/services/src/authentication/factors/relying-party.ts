import { isIP } from 'node:net';

/** For whom passkeys are made (decisions F4). */
export interface RelyingParty {
  /** A host name: passkeys work on it and on the hosts below. */
  id: string;
  /** The product's name, which browsers show. */
  name: string;
  /** The origins from which responses are accepted. */
  origins: ReadonlySet<string>;
}

interface Settings {
  publicUrl?: string | undefined;
  passkeyRpId?: string | undefined;
  allowedOrigins?: readonly string[] | undefined;
}

/**
 * The relying party of a server: the host of its public address, unless one is set.
 * @returns undefined where the host is an address, or no host name, for which browsers make no passkeys
 * @throws Error when `passkeyRpId` is no host name
 */
export function relyingPartyOf(
  { publicUrl, passkeyRpId, allowedOrigins = [] }: Settings,
  name: string,
): RelyingParty | undefined {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);
  const id = passkeyRpId ?? own?.hostname;
  if (id === undefined || isIP(id.replace(/^\[(.*)\]$/, '$1')) !== 0) return undefined;
  if (!/^[a-z\d-]+(\.[a-z\d-]+)*$/.test(id)) {
    // a name with an underscore reaches the server none the less
    if (passkeyRpId === undefined) return undefined;
    throw new Error(`passkeyRpId must be a host name such as example.org, not "${id}"`);
  }
  return { id, name, origins: new Set([...(own ? [own.origin] : []), ...allowedOrigins]) };
}
