import * as openid from 'openid-client';
import type { ProviderDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';
import { isLoopback } from './trusted-address.js';

/** The claims about an email, which providers may send as anything. */
interface EmailClaims {
  email?: unknown;
  email_verified?: unknown;
}

/** Secrets go into the body, as most providers want them, unless one says that it takes them in the header alone. */
function clientSecret(secret: string): openid.ClientAuth {
  const [inBody, inHeader] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isHeaderOnly = methods?.includes('client_secret_basic') && !methods.includes('client_secret_post');
    return (isHeaderOnly ? inHeader : inBody)(server, client, body, headers);
  };
}

/** An OpenID Connect provider, whose addresses and keys are looked up when it is first used: one that is down keeps no server from starting. */
export function createOpenIdSource(definition: ProviderDefinition & { issuer: URL }, timeout: number): ProviderSource {
  const { issuer, clientId, clientSecret: secret, idTokenAlgorithm, trustEmail = false } = definition;
  let discovered: Promise<openid.Configuration> | undefined;

  function discover(): Promise<openid.Configuration> {
    const metadata = idTokenAlgorithm === undefined ? {} : { id_token_signed_response_alg: idTokenAlgorithm };
    const isSignedBySecret = idTokenAlgorithm?.startsWith('HS') ?? false;
    return openid.discovery(issuer, clientId, metadata, clientSecret(secret), {
      timeout,
      execute: [
        ...(isLoopback(issuer) ? [openid.allowInsecureRequests] : []),
        // one that is signed by the secret has come straight from the provider over TLS, which is what the standard asks for
        ...(isSignedBySecret ? [] : [openid.enableNonRepudiationChecks]),
      ],
    });
  }

  function configuration(): Promise<openid.Configuration> {
    if (discovered) return discovered;
    const fresh = discover();
    discovered = fresh;
    // the next one tries again
    fresh.catch(() => {
      if (discovered === fresh) discovered = undefined;
    });
    return fresh;
  }

  return {
    configuration,
    usesNonce: true,
    async readAccount(config, tokens, withEmail) {
      const inToken = tokens.claims();
      let said: EmailClaims = { email: inToken?.email, email_verified: inToken?.email_verified };
      const isUnclear = said.email === undefined || said.email_verified === undefined;
      if (withEmail && inToken && isUnclear && config.serverMetadata().userinfo_endpoint !== undefined) {
        const info = await openid.fetchUserInfo(config, tokens.access_token, inToken.sub);
        // an address and whether it is verified are taken from one place
        if (info.email !== undefined) said = info;
      }
      const { email, email_verified: isVerified } = said;
      // some send it as text
      const isEmailVerified = isVerified === undefined ? trustEmail : isVerified === true || isVerified === 'true';
      return { subject: inToken?.sub, email, isEmailVerified };
    },
  };
}
