import { KNOWN_PROVIDERS, isTrustedAddress, neededSettings, readProviders, type ProviderSettings } from '@tandem/services';

const NAMED = 'apple, github, google, line, microsoft and twitter';

const PARTS = {
  CLIENT_ID:
    'Id of this server at an identity provider: `apple`, `github`, `google`, `line`, `microsoft`, `twitter`, or any name with an issuer',
  CLIENT_SECRET: 'Its secret there; Apple has none',
  ISSUER: `Issuer of the OpenID Connect provider; ${NAMED} need none`,
  TRUST_EMAIL:
    'Whether emails count as verified where the provider does not say (true or false); not for Apple, GitHub and Microsoft, which say it',
  TEAM_ID: 'Id of the team at Apple, which with the key makes the secret',
  KEY_ID: 'Id of the key at Apple',
  PRIVATE_KEY: "Text of the key's file from Apple; its line ends may be written `\\n`, for systemd in double quotes",
  TENANT: "Microsoft's tenant: an id or a domain, `common` (the default), `organizations` or `consumers`",
} as const;
type Part = keyof typeof PARTS;
type Parts = Partial<Record<Part, string>>;

/** Whose own some variables are. */
const OWNERS: Partial<Record<Part, string>> = { TEAM_ID: 'APPLE', KEY_ID: 'APPLE', PRIVATE_KEY: 'APPLE', TENANT: 'MICROSOFT' };

/** Their documentation: the provider's name may be any. */
export const OAUTH_VARIABLES = Object.entries(PARTS).map(([part, meaning]) => ({
  name: `OAUTH_${OWNERS[part as Part] ?? '<PROVIDER>'}_${part}`,
  meaning,
}));

const NAME = new RegExp(`^OAUTH_([A-Z][A-Z0-9_]*?)_(${Object.keys(PARTS).join('|')})$`);

/** Collects the variables of each provider, by its name in capitals. An empty value counts as not set. */
function gather(environment: NodeJS.ProcessEnv): Map<string, Parts> {
  const providers = new Map<string, Parts>();
  for (const [variable, value] of Object.entries(environment)) {
    const [, name, part] = NAME.exec(variable) ?? [];
    if (name === undefined || value === undefined || value === '') continue;
    providers.set(name, { ...providers.get(name), [part as Part]: value });
  }
  return providers;
}

/** The variable of each setting. */
const PART_OF = {
  clientId: 'CLIENT_ID',
  clientSecret: 'CLIENT_SECRET',
  issuer: 'ISSUER',
  teamId: 'TEAM_ID',
  keyId: 'KEY_ID',
  privateKey: 'PRIVATE_KEY',
  tenant: 'TENANT',
  trustEmail: 'TRUST_EMAIL',
} as const;

/** The settings of a provider that variables give. */
function settingsOf(parts: Parts): Partial<ProviderSettings> {
  const given = Object.entries(PART_OF).filter(([, part]) => parts[part] !== undefined);
  const texts = Object.fromEntries(given.map(([setting, part]) => [setting, parts[part]]));
  return { ...texts, trustEmail: parts.TRUST_EMAIL === 'true' };
}

/** What else is wrong with settings that are complete. */
function refusalOf(provider: string, settings: ProviderSettings, variable: (part: Part) => string): string[] {
  try {
    readProviders({ [provider]: settings });
    return [];
  } catch (error) {
    const name = (_: string, setting: keyof typeof PART_OF) => variable(PART_OF[setting]);
    return [(error as Error).message.replace(/^providers\.[\w-]+\.(\w+)/, name)];
  }
}

function problemsOf(name: string, parts: Parts, provider: string): string[] {
  const { ISSUER: issuer, TENANT: tenant, TRUST_EMAIL: trust } = parts;
  const variable = (part: Part) => `OAUTH_${name}_${part}`;
  const settings = settingsOf(parts);
  const isUsable = issuer !== undefined && URL.canParse(issuer) && isTrustedAddress(new URL(issuer));
  const problems = [
    ...neededSettings(provider, settings)
      .filter((setting) => settings[setting] === undefined)
      .map((setting) => `${variable(PART_OF[setting])} is not set, but other settings of this provider are`),
    ...(issuer === undefined && tenant === undefined && !KNOWN_PROVIDERS.includes(provider)
      ? [`${variable('ISSUER')} is not set: only ${KNOWN_PROVIDERS.join(', ')} need none`]
      : []),
    ...(issuer !== undefined && !isUsable ? [`${variable('ISSUER')} must be an https address, or http on loopback`] : []),
    ...(trust !== undefined && !['true', 'false'].includes(trust) ? [`${variable('TRUST_EMAIL')} must be true or false`] : []),
  ];
  return problems.length > 0 ? problems : refusalOf(provider, settings as ProviderSettings, variable);
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
    providers[provider] = settingsOf(parts) as ProviderSettings;
  }
  return { providers, problems };
}
