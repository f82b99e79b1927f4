import { createProviderClient, type ProviderClient } from './provider-client.js';
import { readProviders, type ProviderSettings } from './provider-settings.js';
import { parseRedirectUrls } from './redirect-urls.js';

/** The validated configuration of identity providers. */
export interface OauthConfiguration {
  clients: ProviderClient[];
  redirectUrls: ReadonlySet<string>;
}

/**
 * Validates the settings of identity providers. Contacts none of them, so that a provider that is down does not keep the server
 * from starting.
 * @throws Error naming the setting
 */
export function readOauth(given: {
  publicUrl?: string;
  providers?: Readonly<Record<string, ProviderSettings>>;
  redirectUrls?: readonly string[];
}): OauthConfiguration {
  const { publicUrl, providers = {}, redirectUrls = [] } = given;
  const definitions = readProviders(providers);
  if (definitions.length > 0 && publicUrl === undefined) throw new Error('publicUrl is missing: providers redirect people to it');
  if (definitions.length > 0 && redirectUrls.length === 0)
    throw new Error('redirectUrls is missing: a sign-in needs an address to return to');
  const base = publicUrl?.replace(/\/+$/, '');
  return {
    clients: definitions.map((definition) => createProviderClient(definition, `${base}/auth/oauth/${definition.name}/callback`)),
    redirectUrls: parseRedirectUrls('redirectUrls', redirectUrls),
  };
}

/**
 * Contacts each provider that is discovered, as the first visit would.
 * @returns by name, whether it can be used
 * @throws Error naming the setting
 */
export function contactProviders(providers: Readonly<Record<string, ProviderSettings>>): Promise<[string, boolean][]> {
  const clients = readProviders(providers).map((definition) => createProviderClient(definition, 'https://localhost'));
  const isUsable = ({ verify }: ProviderClient) =>
    verify().then(
      () => true,
      () => false,
    );
  return Promise.all(clients.map(async (client) => [client.name, await isUsable(client)] as [string, boolean]));
}
