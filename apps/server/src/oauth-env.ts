import { KNOWN_PROVIDERS, isTrustedAddress, type ProviderSettings } from '@tandem/services';

const PARTS = {
  CLIENT_ID: 'Id of this server at an identity provider: `google`, `line`, `twitter`, or any name with an issuer',
  CLIENT_SECRET: 'Its secret there',
  ISSUER: 'Issuer of the OpenID Connect provider; google, line and twitter need none',
  TRUST_EMAIL: 'Whether emails count as verified where the provider does not say (true or false)',
} as const;
type Part = keyof typeof PARTS;

/** Their documentation: the provider's name may be any. */
export const OAUTH_VARIABLES = Object.entries(PARTS).map(([part, meaning]) => ({ name: `OAUTH_<PROVIDER>_${part}`, meaning }));

const NAME = new RegExp(`^OAUTH_([A-Z][A-Z0-9_]*?)_(${Object.keys(PARTS).join('|')})$`);

/** Collects the variables of each provider, by its name in capitals. An empty value counts as not set. */
function gather(environment: NodeJS.ProcessEnv): Map<string, Partial<Record<Part, string>>> {
  const providers = new Map<string, Partial<Record<Part, string>>>();
  for (const [variable, value] of Object.entries(environment)) {
    const [, name, part] = NAME.exec(variable) ?? [];
    if (name === undefined || value === undefined || value === '') continue;
    providers.set(name, { ...providers.get(name), [part as Part]: value });
  }
  return providers;
}

function problemsOf(name: string, parts: Partial<Record<Part, string>>, provider: string): string[] {
  const { CLIENT_ID: id, CLIENT_SECRET: secret, ISSUER: issuer, TRUST_EMAIL: trust } = parts;
  const variable = (part: Part) => `OAUTH_${name}_${part}`;
  const isUsable = issuer !== undefined && URL.canParse(issuer) && isTrustedAddress(new URL(issuer));
  return [
    ...(id === undefined ? [`${variable('CLIENT_ID')} is not set, but other settings of this provider are`] : []),
    ...(secret === undefined ? [`${variable('CLIENT_SECRET')} is not set, but other settings of this provider are`] : []),
    ...(issuer === undefined && !KNOWN_PROVIDERS.includes(provider)
      ? [`${variable('ISSUER')} is not set: only ${KNOWN_PROVIDERS.join(', ')} need none`]
      : []),
    ...(issuer !== undefined && !isUsable ? [`${variable('ISSUER')} must be an https address, or http on loopback`] : []),
    ...(trust !== undefined && !['true', 'false'].includes(trust) ? [`${variable('TRUST_EMAIL')} must be true or false`] : []),
  ];
}

/**
 * The identity providers of an environment, by the names used in paths: `OAUTH_MY_COMPANY_CLIENT_ID` belongs to
 * `my-company`.
 * @returns also one line for each wrong value
 */
export function readOauthProviders(environment: NodeJS.ProcessEnv): {
  providers: Record<string, ProviderSettings>;
  problems: string[];
} {
  const problems: string[] = [];
  const providers: Record<string, ProviderSettings> = {};
  for (const [name, parts] of gather(environment)) {
    const provider = name.toLowerCase().replaceAll('_', '-');
    problems.push(...problemsOf(name, parts, provider));
    providers[provider] = {
      clientId: parts.CLIENT_ID ?? '',
      clientSecret: parts.CLIENT_SECRET ?? '',
      trustEmail: parts.TRUST_EMAIL === 'true',
      ...(parts.ISSUER !== undefined && { issuer: parts.ISSUER }),
    };
  }
  return { providers, problems };
}
