import * as openid from 'openid-client';
import { boundedFetch } from './bounded-fetch.js';
import { createDiscovery } from './discovery.js';
import type { MicrosoftDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';

/** The origin whose issuers the library lets contain `{tenantid}`, in whose place a token has its tenant. */
const PUBLIC_CLOUD = 'https://login.microsoftonline.com';
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** How the claim says that the owner of the address's domain has verified it. */
const VERIFIED: readonly unknown[] = [true, 1, 'true', '1'];

function idIn(claim: unknown): string {
  if (typeof claim !== 'string' || !GUID.test(claim)) throw new Error('the token names no account');
  return claim;
}

/**
 * Microsoft's work, school and personal accounts. The object id names a person in a tenant, in all applications; `sub`
 * differs with the application. A tenant's admin may write any address into `email`, and only `xms_edov` tells whose it is.
 */
export function createMicrosoftSource(definition: MicrosoftDefinition, timeout: number): ProviderSource {
  const { issuer, clientId, clientSecret } = definition;
  return {
    configuration: createDiscovery({
      issuer,
      // other clouds too
      inName: new URL(issuer.pathname, PUBLIC_CLOUD),
      clientId,
      authentication: openid.ClientSecretPost(clientSecret),
      timeout,
      fetch: (url, options) => boundedFetch(url.replace(PUBLIC_CLOUD, issuer.origin), options),
      // the library has not compared it, for the placeholder
      check(metadata) {
        if (new URL(metadata.issuer).origin !== issuer.origin) throw new Error('the discovery document is of another issuer');
      },
    }),
    usesNonce: true,
    knowsIssuer: true,
    returnsByForm: false,
    async readAccount(config, tokens) {
      const claims = tokens.claims();
      const [tenant, account] = [idIn(claims?.tid), idIn(claims?.oid)];
      if (claims?.iss !== `${issuer.origin}/${tenant}/v2.0`) throw new Error('the token is of another tenant than its issuer');
      const { email, xms_edov: isVerified } = claims;
      return { subject: `${tenant}:${account}`, email, isEmailVerified: VERIFIED.includes(isVerified) };
    },
  };
}
