import * as openid from 'openid-client';
import { appleSecret } from './apple-secret.js';
import { createDiscovery } from './discovery.js';
import type { AppleDefinition, OpenIdDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';

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

/** An OpenID Connect provider. */
export function createOpenIdSource(definition: OpenIdDefinition | AppleDefinition, timeout: number): ProviderSource {
  const { kind, issuer, clientId } = definition;
  const isApple = kind === 'apple';
  const trustEmail = !isApple && definition.trustEmail === true;
  return {
    configuration: createDiscovery({
      issuer,
      clientId,
      authentication: isApple ? appleSecret(definition.signer) : clientSecret(definition.clientSecret),
      idTokenAlgorithm: isApple ? undefined : definition.idTokenAlgorithm,
      timeout,
    }),
    usesNonce: true,
    knowsIssuer: true,
    // Apple gives an email only this way
    returnsByForm: isApple,
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
