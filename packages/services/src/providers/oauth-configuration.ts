import { createProviderClient, type ProviderClient } from './provider-client.js';
import { readProviders, type ProviderSettings } from './provider-settings.js';
import { parseRedirectUrls } from './redirect-urls.js';

/** Identity providers as they are configured, checked. */
export interface OauthConfiguration {
  clients: ProviderClient[];
  redirectUrls: ReadonlySet<string>;
}

/**
 * Checks the settings of identity providers. Asks none of them: one that is down keeps no server from starting.
 * @throws Error that names the setting
 */
export function readOauth(given: {
  publicUrl?: string;
  providers?: Readonly<Record<string, ProviderSettings>>;
  redirectUrls?: readonly string[];
}): OauthConfiguration {
  const { publicUrl, providers = {}, redirectUrls = [] } = given;
  const definitions = readProviders(providers);
  if (definitions.length > 0 && publicUrl === undefined)
    throw new Error('publicUrl is missing: providers send people back to it');
  if (definitions.length > 0 && redirectUrls.length === 0) throw new Error('redirectUrls is missing: nobody could be sent back');
  const base = publicUrl?.replace(/\/+$/, '');
  return {
    clients: definitions.map((definition) => createProviderClient(definition, `${base}/auth/oauth/${definition.name}/callback`)),
    redirectUrls: parseRedirectUrls('redirectUrls', redirectUrls),
  };
}
