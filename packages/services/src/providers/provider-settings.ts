import { readAppleKey, type AppleSigner } from './apple-secret.js';
import { KNOWN, KNOWN_PROVIDERS, SCOPES } from './known-providers.js';
import { isTrustedAddress } from './trusted-address.js';

/** A host's settings for one identity provider. */
export interface ProviderSettings {
  clientId: string;
  /** Apple has none: it takes secrets that are made with `privateKey`. */
  clientSecret?: string;
  /** Issuer of an OpenID Connect provider. Those with defaults need none: apple, github, google, line, microsoft, twitter. */
  issuer?: string;
  /** Requested scopes, separated by spaces. Default: the account and its email. */
  scope?: string;
  /**
   * Whether an email counts as verified if the provider does not say. An email that the provider calls unverified never counts.
   * Default false: otherwise somebody could sign up with another person's address and wait for its owner. apple, github and
   * microsoft say it in their own ways.
   */
  trustEmail?: boolean;
  /** Signature algorithm of ID tokens, if it is missing in the discovery document. */
  idTokenAlgorithm?: string;
  /** For a provider with OAuth 2 only. */
  endpoints?: OAuth2Endpoints;
  /** Apple's ids of the team and the key, and the text of the key's file. */
  teamId?: string;
  keyId?: string;
  privateKey?: string;
  /** Microsoft's tenant: its id or domain, or `common`, `organizations` or `consumers`. Default `common`. */
  tenant?: string;
}

/** Endpoints of a provider without discovery. */
export interface OAuth2Endpoints {
  authorization: string;
  token: string;
  /** Returns `{ data: { id, confirmed_email? } }` for an access token, like X's endpoint; with `emails`, `{ id }` like GitHub's. */
  account: string;
  /** Returns `[{ email, primary, verified }]`, like GitHub's. */
  emails?: string;
}

interface Definition {
  name: string;
  clientId: string;
  scope: string;
}
export interface OpenIdDefinition extends Definition {
  kind: 'openid';
  issuer: URL;
  clientSecret: string;
  trustEmail?: boolean | undefined;
  idTokenAlgorithm?: string | undefined;
}
export interface AppleDefinition extends Definition {
  kind: 'apple';
  issuer: URL;
  signer: AppleSigner;
}
export interface MicrosoftDefinition extends Definition {
  kind: 'microsoft';
  issuer: URL;
  clientSecret: string;
}
export interface OAuth2Definition extends Definition {
  kind: 'oauth2';
  clientSecret: string;
  endpoints: OAuth2Endpoints;
}
/** A provider with validated settings. */
export type ProviderDefinition = OpenIdDefinition | AppleDefinition | MicrosoftDefinition | OAuth2Definition;

/** Names appear in paths, and before a colon in stored keys. */
const NAME = /^[a-z][a-z0-9-]{0,39}$/;
const TENANT = /^[\w.-]{1,255}$/;

function checkedAddress(setting: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !isTrustedAddress(url)) throw new Error(`${setting}: "${text}" must be an https address, or http on loopback`);
  return url;
}

type Given = Partial<ProviderSettings>;

/** Whether these are Apple's own settings; `apple` with an issuer and a secret is any provider. */
function isApple(name: string, { teamId, keyId, privateKey, issuer }: Given): boolean {
  return (teamId ?? keyId ?? privateKey) !== undefined || (name === 'apple' && issuer === undefined);
}

/** The settings that a provider cannot do without. */
export function neededSettings(name: string, given: Given) {
  return isApple(name, given)
    ? (['clientId', 'teamId', 'keyId', 'privateKey'] as const)
    : (['clientId', 'clientSecret'] as const);
}

function signerOf(setting: string, { teamId = '', keyId = '', privateKey = '' }: Given): AppleSigner {
  const key = readAppleKey(privateKey);
  if (!key) throw new Error(`${setting}.privateKey must be the text of the key's file: a P-256 key in PEM`);
  return { teamId, keyId, key };
}

function issuerOf(setting: string, { issuer, tenant }: Given): URL | undefined {
  if (tenant !== undefined && !TENANT.test(tenant))
    throw new Error(`${setting}.tenant must be the id or domain of a tenant, common, organizations or consumers`);
  const address = issuer ?? (tenant === undefined ? undefined : `https://login.microsoftonline.com/${tenant}/v2.0`);
  return address === undefined ? undefined : checkedAddress(`${setting}.issuer`, address);
}

function define(name: string, given: ProviderSettings): ProviderDefinition {
  const setting = `providers.${name}`;
  if (!NAME.test(name)) throw new Error(`${setting}: a name consists of lower-case letters, digits and hyphens, at most 40`);
  for (const key of neededSettings(name, given)) if (!given[key]) throw new Error(`${setting}.${key} is missing`);
  // defaults only apply to the provider's own addresses
  const isElsewhere = given.issuer !== undefined || given.endpoints !== undefined;
  const settings: ProviderSettings = isElsewhere ? given : { ...KNOWN[name], ...given };
  const { clientId, clientSecret = '', endpoints, trustEmail, tenant, idTokenAlgorithm } = settings;
  const issuer = issuerOf(setting, settings);
  const own = (scopes: keyof typeof SCOPES) => ({
    name,
    clientId,
    scope: settings.scope ?? SCOPES[scopes],
  });

  if (issuer && !isApple(name, given) && tenant === undefined)
    return { ...own('openid'), kind: 'openid', issuer, clientSecret, trustEmail, idTokenAlgorithm };
  const isX = endpoints !== undefined && endpoints.emails === undefined;
  if (trustEmail && !isX) throw new Error(`${setting}.trustEmail: this provider says which addresses it has verified`);
  if (issuer && tenant !== undefined) return { ...own('microsoft'), kind: 'microsoft', issuer, clientSecret };
  if (issuer) return { ...own('openid'), kind: 'apple', issuer, signer: signerOf(setting, given) };
  if (!endpoints) throw new Error(`${setting}.issuer is missing: only ${KNOWN_PROVIDERS.join(', ')} need none`);
  for (const [key, text] of Object.entries(endpoints)) checkedAddress(`${setting}.endpoints.${key}`, text as string);
  return { ...own(isX ? 'x' : 'github'), kind: 'oauth2', endpoints, clientSecret };
}

/**
 * Validates all providers.
 * @throws Error naming the setting
 */
export function readProviders(settings: Readonly<Record<string, ProviderSettings>>): ProviderDefinition[] {
  return Object.entries(settings).map(([name, given]) => define(name, given));
}
