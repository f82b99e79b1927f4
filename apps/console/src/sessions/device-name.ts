import { t } from '../texts/texts.js';

/** Browser names in user agents, the more specific first: many also name others. */
const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/HeadlessChrome\/|Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^node/i, 'Node.js'],
] as const;
const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

function match(userAgent: string, names: readonly (readonly [RegExp, string])[]): string | undefined {
  return names.find(([pattern]) => pattern.test(userAgent))?.[1];
}

/** A user agent in short: `Firefox on Windows`. */
export function deviceName(userAgent: string): string {
  const [browser, system] = [match(userAgent, BROWSERS), match(userAgent, SYSTEMS)];
  if (browser === undefined)
    return userAgent === '' ? t('security.sessions.unknownDevice') : (userAgent.split(/[ /]/, 1)[0] as string);
  return system === undefined ? browser : t('security.sessions.device', { browser, system });
}
