import type { ProviderSettings } from '@tandem/services';
import type { z } from 'zod';
import { AUTH_MODE_VARIABLES, VARIABLES, type Variable } from './env.js';
import { readOauthProviders } from './oauth-env.js';

type Read<V> = V extends { read: z.ZodType<infer T, string>; fallback: string } ? T : V extends { read: z.ZodType<infer T, string> } ? T | undefined : never; // prettier-ignore
/** The parsed environment. */
export type Environment = { [Name in keyof typeof VARIABLES]: Read<(typeof VARIABLES)[Name]> } & {
  AUTH_MODES: Record<string, 'bearer' | 'cookie'>;
  /** By the names used in paths. */
  OAUTH_PROVIDERS: Record<string, ProviderSettings>;
};

/** An unusable environment: one line for each wrong value. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

/**
 * Parses the environment. An empty value counts as not set.
 * @throws EnvironmentError with every wrong value
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): Environment {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  function read(name: string, schema: z.ZodType, fallback: string | undefined): unknown {
    const text = environment[name] === undefined || environment[name] === '' ? fallback : environment[name];
    if (text === undefined) return undefined;
    const result = schema.safeParse(text);
    if (!result.success) problems.push(`${name} ${result.error.issues[0]?.message ?? 'is wrong'}`);
    return result.data;
  }
  for (const [name, definition] of Object.entries(VARIABLES)) {
    const { read: schema, fallback }: Variable<unknown> = definition;
    values[name] = read(name, schema, fallback);
  }
  const modes = Object.entries(AUTH_MODE_VARIABLES).map(([service, { name, read: schema }]) => [service, read(name, schema, undefined) ?? values.AUTH_MODE]); // prettier-ignore
  const { providers, problems: ofProviders } = readOauthProviders(environment);
  problems.push(...ofProviders);
  if (problems.length > 0) throw new EnvironmentError(problems);
  const AUTH_MODES = { default: values.AUTH_MODE, ...Object.fromEntries(modes) };
  return { ...values, AUTH_MODES, OAUTH_PROVIDERS: providers } as Environment;
}
