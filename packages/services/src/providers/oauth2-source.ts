import * as openid from 'openid-client';
import type { OAuth2Endpoints, ProviderDefinition } from './provider-settings.js';
import type { ProviderSource } from './provider-source.js';
import { isLoopback } from './trusted-address.js';

/** Reads X's description of an account, which contains an email only if confirmed. */
function readData(answer: unknown): { id?: unknown; confirmed_email?: unknown } {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : undefined;
  return typeof data === 'object' && data !== null ? data : {};
}

/** A provider with OAuth 2 only and fixed endpoints, such as X. The account is read with the access token. */
export function createOAuth2Source(
  definition: ProviderDefinition & { endpoints: OAuth2Endpoints },
  timeout: number,
): ProviderSource {
  const { clientId, clientSecret, endpoints } = definition;
  const account = new URL(endpoints.account);
  const server = {
    issuer: new URL(endpoints.authorization).origin,
    authorization_endpoint: endpoints.authorization,
    token_endpoint: endpoints.token,
  };
  const configuration = new openid.Configuration(server, clientId, {}, openid.ClientSecretBasic(clientSecret));
  configuration.timeout = timeout;
  // the endpoints are validated: those without https are on loopback
  if (Object.values(endpoints).some((address: string) => isLoopback(new URL(address))))
    openid.allowInsecureRequests(configuration);

  return {
    configuration: () => Promise.resolve(configuration),
    usesNonce: false,
    async readAccount(config, tokens) {
      const response = await openid.fetchProtectedResource(config, tokens.access_token, account, 'GET');
      if (!response.ok) throw new Error('the provider did not describe the account');
      const { id, confirmed_email: email } = readData(await response.json());
      return { subject: id, email, isEmailVerified: email !== undefined };
    },
  };
}
