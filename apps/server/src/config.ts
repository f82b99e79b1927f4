import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AuthMode, IdentityTypeIds, MfaRequired } from '@tandem/core';
import type { CookieSettings, ProviderSettings, RateLimitSettings, TandemConfiguration, WebhookSettings } from '@tandem/services';
import { addressProblems } from '@tandem/storage';
import type { Brand } from './console-page.js';
import { guessableSecrets } from './guessable-secrets.js';
import { openDataDir } from './data-dir.js';
import { EnvironmentError, readEnvironment, type Environment } from './read-env.js';

/** The complete configuration of a server, typed and validated. */
export interface Config {
  port: number;
  host: string;
  /** Undefined: the address it listens on. */
  publicUrl: string | undefined;
  development: boolean;
  dataDir: string;
  mongodbUri: string | undefined;
  /** Undefined: the default. */
  mongodbPoolSize: number | undefined;
  redisUrl: string | undefined;
  rateLimits: RateLimitSettings;
  authModes: Record<string, AuthMode>;
  authSecrets: TandemConfiguration['authSecrets'];
  lifetimes: {
    accessTokenExpireTime: string;
    refreshTokenExpireTime: string;
    onetimeTokenExpireTime: string;
    sessionMaxTime: string;
    invitationExpireTime: string;
    providerTokenExpireTime: string;
  };
  auditRetention: string;
  eventRetention: string;
  eventMessageTexts: boolean;
  /** How people are erased, and deleted records. */
  erasure: Pick<TandemConfiguration, 'erasureDelay' | 'erasedMessages' | 'deletedRetention' | 'deletedRetentionOrders'>;
  typeIds: IdentityTypeIds;
  mfaEnabled: boolean;
  mfaRequired: MfaRequired;
  passkeyRpId: string | undefined;
  bcryptCost: number;
  bootstrapAdmin: { email: string; password: string } | undefined;
  /** For the command `admin create`. */
  adminPassword: string | undefined;
  mail: {
    url: string;
    from: string;
    logoUrl?: string | undefined;
    color?: string | undefined;
    /** Undefined: the server's public URL. */
    linksUrl: string | undefined;
    /** How often the queue is polled for leftover mails, in milliseconds; undefined: the default. */
    pollMs?: number;
  };
  files: {
    url: string;
    /** Bytes that one identity may have attached, such as `5gb`; undefined: the default. */
    quota?: string;
    /** How often the queue of files to remove is polled, in milliseconds; undefined: the default. */
    pollMs?: number;
  };
  webhooks: WebhookSettings & {
    /** How often the queue of deliveries is polled, in milliseconds; undefined: the default. */
    pollMs?: number;
  };
  /** Whether the console is served. */
  console: boolean;
  /** How the console looks. */
  brand: Brand;
  /** Whether agents are answered at `/mcp`. */
  mcp: boolean;
  corsOrigins: string[];
  /** Identity providers by name. */
  providers: Record<string, ProviderSettings>;
  redirectUrls: string[];
  bodyLimit: string;
  cookies: CookieSettings;
  metricsToken: string | undefined;
  trustProxy: boolean | number | string[];
  /** How long a stopping server still accepts connections, in milliseconds. */
  shutdownDelayMs: number;
  logLevel: string;
}

type Secrets = Config['authSecrets'];

/** Lowest cost of password hashes in production. */
const MIN_BCRYPT_COST = 10;

/** Secrets of a development server, generated once and stored in its data folder, readable only by its owner. */
function developmentSecrets(dataDir: string): Secrets {
  const file = path.join(dataDir, 'secrets.json');
  const secret = () => randomBytes(48).toString('base64');
  openDataDir(dataDir);
  try {
    // exclusive: of two processes starting at once, one writes and both read
    writeFileSync(file, JSON.stringify({ authEncSecret: secret(), authSignSecret: secret() }), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Secrets;
}

function secretsOf(env: Environment, development: boolean): Secrets {
  const { AUTH_ENC_SECRET: authEncSecret, AUTH_SIGN_SECRET: authSignSecret } = env;
  if (authEncSecret !== undefined && authSignSecret !== undefined) return { authEncSecret, authSignSecret };
  if (development) {
    const generated = developmentSecrets(env.DATA_DIR);
    return {
      authEncSecret: authEncSecret ?? generated.authEncSecret,
      authSignSecret: authSignSecret ?? generated.authSignSecret,
    };
  }
  const missing = Object.entries({ AUTH_ENC_SECRET: authEncSecret, AUTH_SIGN_SECRET: authSignSecret }).filter(
    ([, value]) => value === undefined,
  );
  throw new EnvironmentError(missing.map(([name]) => `${name} is not set: make one with  openssl rand -base64 48`));
}

/** Problems that involve several variables. */
function crossProblems(env: Environment): string[] {
  const problems = addressProblems(env.MONGODB_URI ?? '').map((problem) => `MONGODB_URI ${problem}`);
  if ((env.BOOTSTRAP_ADMIN_EMAIL === undefined) !== (env.BOOTSTRAP_ADMIN_PASSWORD === undefined))
    problems.push('BOOTSTRAP_ADMIN_EMAIL and BOOTSTRAP_ADMIN_PASSWORD go together: set both or none');
  if (env.COOKIE_SAME_SITE === 'none' && !env.COOKIE_SECURE)
    problems.push('COOKIE_SAME_SITE=none needs COOKIE_SECURE=true: otherwise browsers refuse the cookies');
  if (env.COOKIE_PREFIX !== '' && !env.COOKIE_SECURE)
    problems.push(`COOKIE_PREFIX=${env.COOKIE_PREFIX} needs COOKIE_SECURE=true: otherwise browsers refuse the cookies`);
  if (env.COOKIE_PREFIX === '__Host-' && env.COOKIE_DOMAIN !== undefined)
    problems.push('COOKIE_PREFIX=__Host- allows no COOKIE_DOMAIN: leave that out, or set COOKIE_PREFIX=__Secure-');
  if (Object.keys(env.OAUTH_PROVIDERS).length > 0 && env.REDIRECT_URLS.length === 0)
    problems.push('REDIRECT_URLS is not set: identity providers could not send people back');
  if (env.NODE_ENV !== 'development' && env.BCRYPT_COST < MIN_BCRYPT_COST)
    problems.push(`BCRYPT_COST must be at least ${MIN_BCRYPT_COST} in production`);
  const types = [env.IDENTITY_TYPE_ADMIN, env.IDENTITY_TYPE_GUEST, env.IDENTITY_TYPE_REGULAR];
  if (new Set(types).size < types.length)
    problems.push('IDENTITY_TYPE_ADMIN, IDENTITY_TYPE_GUEST and IDENTITY_TYPE_REGULAR must differ');
  return problems;
}

/**
 * Turns the environment into a configuration.
 * @throws EnvironmentError with one line for each wrong value
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const env = readEnvironment(environment);
  const problems = crossProblems(env);
  if (problems.length > 0) throw new EnvironmentError(problems);
  const development = env.NODE_ENV === 'development';
  const authSecrets = secretsOf(env, development);
  const guessable = development ? [] : guessableSecrets(authSecrets);
  if (guessable.length > 0) throw new EnvironmentError(guessable);
  const { BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: password } = env;
  return {
    port: env.PORT,
    host: env.HOST,
    publicUrl: env.PUBLIC_URL,
    development,
    dataDir: path.resolve(env.DATA_DIR),
    mongodbUri: env.MONGODB_URI,
    mongodbPoolSize: env.MONGODB_POOL_SIZE,
    redisUrl: env.REDIS_URL,
    rateLimits: env.RATE_LIMITS,
    authModes: env.AUTH_MODES,
    authSecrets,
    lifetimes: {
      accessTokenExpireTime: env.ACCESS_TOKEN_EXPIRE_TIME,
      refreshTokenExpireTime: env.REFRESH_TOKEN_EXPIRE_TIME,
      onetimeTokenExpireTime: env.ONETIME_TOKEN_EXPIRE_TIME,
      sessionMaxTime: env.SESSION_MAX_TIME,
      invitationExpireTime: env.INVITATION_EXPIRE_TIME,
      providerTokenExpireTime: env.PROVIDER_TOKEN_EXPIRE_TIME,
    },
    auditRetention: env.AUDIT_RETENTION,
    eventRetention: env.EVENT_RETENTION,
    eventMessageTexts: env.EVENT_MESSAGE_TEXTS,
    erasure: {
      erasureDelay: env.ERASURE_DELAY,
      erasedMessages: env.ERASED_MESSAGES,
      deletedRetention: env.DELETED_RETENTION,
      deletedRetentionOrders: env.DELETED_RETENTION_ORDERS,
    },
    typeIds: { admin: env.IDENTITY_TYPE_ADMIN, guest: env.IDENTITY_TYPE_GUEST, regular: env.IDENTITY_TYPE_REGULAR },
    mfaEnabled: env.MFA_ENABLED,
    mfaRequired: env.MFA_REQUIRED,
    passkeyRpId: env.PASSKEY_RP_ID,
    bcryptCost: env.BCRYPT_COST,
    bootstrapAdmin: email !== undefined && password !== undefined ? { email, password } : undefined,
    adminPassword: env.ADMIN_PASSWORD,
    mail: {
      url: env.MAIL_URL,
      from: env.MAIL_FROM,
      logoUrl: env.MAIL_LOGO_URL,
      color: env.MAIL_COLOR,
      linksUrl: env.MAIL_LINKS_URL,
    },
    files: { url: env.FILES_URL, quota: env.FILES_QUOTA },
    webhooks: { privateAddresses: env.WEBHOOK_PRIVATE_ADDRESSES },
    console: env.CONSOLE,
    brand: { name: env.CONSOLE_NAME, logoUrl: env.CONSOLE_LOGO_URL, color: env.CONSOLE_COLOR },
    mcp: env.MCP,
    corsOrigins: env.CORS_ORIGINS,
    providers: env.OAUTH_PROVIDERS,
    redirectUrls: env.REDIRECT_URLS,
    bodyLimit: env.BODY_LIMIT,
    cookies: {
      sameSite: env.COOKIE_SAME_SITE,
      secure: env.COOKIE_SECURE,
      prefix: env.COOKIE_PREFIX,
      ...(env.COOKIE_DOMAIN !== undefined && { domain: env.COOKIE_DOMAIN }),
    },
    metricsToken: env.METRICS_TOKEN,
    trustProxy: env.TRUST_PROXY,
    shutdownDelayMs: env.SHUTDOWN_DELAY,
    logLevel: env.LOG_LEVEL,
  };
}
