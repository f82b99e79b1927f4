import * as openid from 'openid-client';
import { boundedFetch } from './bounded-fetch.js';
import { isLoopback } from './trusted-address.js';

interface DiscoveryOptions {
  issuer: URL;
  /** The issuer in whose name the library discovers it. Default itself. */
  inName?: URL;
  clientId: string;
  /** How the server proves itself at the token endpoint. */
  authentication: openid.ClientAuth;
  /** Signature algorithm of ID tokens, if it is missing in the discovery document. */
  idTokenAlgorithm?: string | undefined;
  /** Time limit for one request, in seconds. */
  timeout: number;
  fetch?: openid.CustomFetch;
  /** Refuses a discovery document that the library accepts. @throws Error */
  check?(metadata: openid.ServerMetadata): void;
}

/**
 * Discovers an OpenID Connect provider on first use, so that one that is down does not keep the server from starting. A
 * failure is not kept.
 */
export function createDiscovery(options: DiscoveryOptions): () => Promise<openid.Configuration> {
  const { issuer, inName = issuer, clientId, authentication, idTokenAlgorithm, timeout, fetch = boundedFetch, check } = options;
  let discovered: Promise<openid.Configuration> | undefined;

  async function discover(): Promise<openid.Configuration> {
    const metadata = idTokenAlgorithm === undefined ? {} : { id_token_signed_response_alg: idTokenAlgorithm };
    const isSignedBySecret = idTokenAlgorithm?.startsWith('HS') ?? false;
    const configuration = await openid.discovery(inName, clientId, metadata, authentication, {
      timeout,
      [openid.customFetch]: fetch,
      execute: [
        ...(isLoopback(issuer) ? [openid.allowInsecureRequests] : []),
        // a token signed with the secret came directly from the provider over TLS, which the standard accepts
        ...(isSignedBySecret ? [] : [openid.enableNonRepudiationChecks]),
      ],
    });
    check?.(configuration.serverMetadata());
    return configuration;
  }

  return () => {
    if (discovered) return discovered;
    const fresh = discover();
    discovered = fresh;
    // the next call retries
    fresh.catch(() => {
      if (discovered === fresh) discovered = undefined;
    });
    return fresh;
  };
}
