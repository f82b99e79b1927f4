import * as openid from 'openid-client';
import type { ProviderDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';
import { isLoopback } from './trusted-address.js';

/** The email claims, of unknown types because providers differ. */
interface EmailClaims {
  email?: unknown;
  email_verified?: unknown;
}

/** Sends the client secret in the body, as most providers expect, unless the provider only accepts the header. */
function clientSecret(secret: string): openid.ClientAuth {
  const [inBody, inHeader] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isHeaderOnly = methods?.includes('client_secret_basic') && !methods.includes('client_secret_post');
    return (isHeaderOnly ? inHeader : inBody)(server, client, body, headers);
  };
}

/**
 * An OpenID Connect provider. Discovery happens on first use, so that a provider that is down does not keep the server from
 * starting.
 */
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
        // a token signed with the secret came directly from the provider over TLS, which the standard accepts
        ...(isSignedBySecret ? [] : [openid.enableNonRepudiationChecks]),
      ],
    });
  }

  function configuration(): Promise<openid.Configuration> {
    if (discovered) return discovered;
    const fresh = discover();
    discovered = fresh;
    // the next call retries
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
        // take email and verification from the same place
        if (info.email !== undefined) said = info;
      }
      const { email, email_verified: isVerified } = said;
      // some providers send text
      const isEmailVerified = isVerified === undefined ? trustEmail : isVerified === true || isVerified === 'true';
      return { subject: inToken?.sub, email, isEmailVerified };
    },
  };
}
