import { isTrustedAddress } from './trusted-address.js';

/** What a host configures of one identity provider. */
export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  /** Of an OpenID Connect provider. google and line have theirs; twitter has none. */
  issuer?: string;
  /** What is asked for, separated by spaces. Default: the account and its email. */
  scope?: string;
  /**
   * Whether an address counts as verified where the provider does not say; where it says that it is not verified, it never counts.
   * Default false: who signs up with an address of somebody else would wait there for its owner.
   */
  trustEmail?: boolean;
  /** How ID tokens are signed, where that is not in the discovery document. */
  idTokenAlgorithm?: string;
  /** Of a provider that is OAuth 2 only. */
  endpoints?: OAuth2Endpoints;
}

/** Addresses of a provider without discovery. */
export interface OAuth2Endpoints {
  authorization: string;
  token: string;
  /** Answers `{ data: { id, confirmed_email? } }` to the access token: X's. */
  account: string;
}

/** A provider as it is worked with: its addresses are checked. */
export type ProviderDefinition = Omit<ProviderSettings, 'issuer' | 'endpoints' | 'scope'> & {
  name: string;
  scope: string;
} & ({ issuer: URL } | { endpoints: OAuth2Endpoints });

const OPENID_SCOPE = 'openid email';
/** X gives an account's confirmed email for the last of these, where the app may ask for it. */
const OAUTH2_SCOPE = 'users.read tweet.read users.email';

const KNOWN: Readonly<Record<string, Partial<ProviderSettings>>> = {
  google: { issuer: 'https://accounts.google.com' },
  // what its discovery document announces is for apps: to web clients LINE signs with the client's secret
  line: { issuer: 'https://access.line.me', idTokenAlgorithm: 'HS256' },
  twitter: {
    endpoints: {
      authorization: 'https://x.com/i/oauth2/authorize',
      token: 'https://api.x.com/2/oauth2/token',
      account: 'https://api.x.com/2/users/me?user.fields=confirmed_email',
    },
  },
};

/** Names of the providers that need no issuer. */
export const KNOWN_PROVIDERS: readonly string[] = Object.keys(KNOWN);

/** Names stand in paths, and before a colon in the store. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

function checkedAddress(setting: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isTrustedAddress(url)) throw new Error(`${setting}: "${text}" must be an https address, or http on loopback`);
  return url;
}

function define(name: string, given: ProviderSettings): ProviderDefinition {
  const setting = `providers.${name}`;
  if (!NAME.test(name)) throw new Error(`${setting}: a name has lower-case letters, digits and hyphens, 40 at most`);
  for (const key of ['clientId', 'clientSecret'] as const) if (!given[key]) throw new Error(`${setting}.${key} is missing`);
  // what is known of a provider holds for its own addresses
  const isElsewhere = given.issuer !== undefined || given.endpoints !== undefined;
  const { issuer, endpoints, ...settings } = isElsewhere ? given : { ...KNOWN[name], ...given };
  if (issuer !== undefined)
    return { scope: OPENID_SCOPE, ...settings, name, issuer: checkedAddress(`${setting}.issuer`, issuer) };
  if (!endpoints) throw new Error(`${setting}.issuer is missing: only ${KNOWN_PROVIDERS.join(', ')} do without`);
  for (const [key, text] of Object.entries(endpoints)) checkedAddress(`${setting}.endpoints.${key}`, text as string);
  return { scope: OAUTH2_SCOPE, ...settings, name, endpoints };
}

/**
 * The providers of a configuration.
 * @throws Error that names the setting
 */
export function readProviders(settings: Readonly<Record<string, ProviderSettings>>): ProviderDefinition[] {
  return Object.entries(settings).map(([name, given]) => define(name, given));
}
