import { isTrustedAddress } from './trusted-address.js';

/** A host's settings for one identity provider. */
export interface ProviderSettings {
  clientId: string;
  clientSecret: string;
  /** Issuer of an OpenID Connect provider. google and line have defaults; twitter has none. */
  issuer?: string;
  /** Requested scopes, separated by spaces. Default: the account and its email. */
  scope?: string;
  /**
   * Whether an email counts as verified if the provider does not say. An email that the provider calls unverified never counts.
   * Default false: otherwise somebody could sign up with another person's address and wait for its owner.
   */
  trustEmail?: boolean;
  /** Signature algorithm of ID tokens, if it is missing in the discovery document. */
  idTokenAlgorithm?: string;
  /** For a provider with OAuth 2 only. */
  endpoints?: OAuth2Endpoints;
}

/** Endpoints of a provider without discovery. */
export interface OAuth2Endpoints {
  authorization: string;
  token: string;
  /** Returns `{ data: { id, confirmed_email? } }` for an access token, like X's endpoint. */
  account: string;
}

/** A provider with validated addresses. */
export type ProviderDefinition = Omit<ProviderSettings, 'issuer' | 'endpoints' | 'scope'> & {
  name: string;
  scope: string;
} & ({ issuer: URL } | { endpoints: OAuth2Endpoints });

const OPENID_SCOPE = 'openid email';
/** X returns the confirmed email only with `users.email`, if the app may request it. */
const OAUTH2_SCOPE = 'users.read tweet.read users.email';

const KNOWN: Readonly<Record<string, Partial<ProviderSettings>>> = {
  google: { issuer: 'https://accounts.google.com' },
  // the algorithm in LINE's discovery document is for apps; for web clients LINE signs with the client secret
  line: { issuer: 'https://access.line.me', idTokenAlgorithm: 'HS256' },
  twitter: {
    endpoints: {
      authorization: 'https://x.com/i/oauth2/authorize',
      token: 'https://api.x.com/2/oauth2/token',
      account: 'https://api.x.com/2/users/me?user.fields=confirmed_email',
    },
  },
};

/** Providers that need no issuer. */
export const KNOWN_PROVIDERS: readonly string[] = Object.keys(KNOWN);

/** Names appear in paths, and before a colon in stored keys. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;

function checkedAddress(setting: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isTrustedAddress(url)) throw new Error(`${setting}: "${text}" must be an https address, or http on loopback`);
  return url;
}

function define(name: string, given: ProviderSettings): ProviderDefinition {
  const setting = `providers.${name}`;
  if (!NAME.test(name)) throw new Error(`${setting}: a name consists of lower-case letters, digits and hyphens, at most 40`);
  for (const key of ['clientId', 'clientSecret'] as const) if (!given[key]) throw new Error(`${setting}.${key} is missing`);
  // defaults only apply to the provider's own addresses
  const isElsewhere = given.issuer !== undefined || given.endpoints !== undefined;
  const { issuer, endpoints, ...settings } = isElsewhere ? given : { ...KNOWN[name], ...given };
  if (issuer !== undefined)
    return { scope: OPENID_SCOPE, ...settings, name, issuer: checkedAddress(`${setting}.issuer`, issuer) };
  if (!endpoints) throw new Error(`${setting}.issuer is missing: only ${KNOWN_PROVIDERS.join(', ')} need none`);
  for (const [key, text] of Object.entries(endpoints)) checkedAddress(`${setting}.endpoints.${key}`, text as string);
  return { scope: OAUTH2_SCOPE, ...settings, name, endpoints };
}

/**
 * Validates all providers.
 * @throws Error naming the setting
 */
export function readProviders(settings: Readonly<Record<string, ProviderSettings>>): ProviderDefinition[] {
  return Object.entries(settings).map(([name, given]) => define(name, given));
}
