import {
  SECRET_MIN_BYTES,
  splitSecrets,
  type AuthMode,
  type Clock,
  type EventBus,
  type IdentityTypeIds,
  type Log,
  type StreamLimits,
} from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import type { RedisDriver } from '@tandem/drivers/redis';
import type { Storage } from '@tandem/storage';
import ms, { type StringValue } from 'ms';
import type { CookieSettings } from './authentication/cookies.js';
import type { MailSettings } from './mail/queued-mail.js';
import type { PasswordCheck, PasswordVerifier } from './authentication/passwords.js';
import type { RateLimitSettings } from './rate-limits/limits.js';
import type { ProviderSettings } from './providers/provider-settings.js';
import type { ServiceName } from './router.js';

/** Where files are kept, and how many. */
export interface FilesSettings {
  /** Opened by `openFilesDriver`, the host's to close. */
  driver: FilesDriver;
  /** What one identity may have attached at most, as bytes or a text such as `5gb`. Default 5gb. */
  quota?: number | string;
}

/** What a host application configures (spec, "Authentication" 5 and 8). */
export interface TandemConfiguration<Name extends ServiceName = ServiceName> {
  /** The services whose procedures and streams are answered. Default: all. Those that are not work for the others all the same. */
  services?: readonly Name[];
  /** Where records are kept: of `openStorage`. */
  storage: Storage;
  /** 32 bytes at least. A comma-separated list rotates: the first makes tokens, all read them. */
  authSecrets: { authEncSecret: string; authSignSecret: string };
  /** For all services, or for each by name, those of the host's own routers too; `default` is of the others. Default `bearer`. */
  authMode?: AuthMode | Partial<Record<ServiceName | 'default' | (string & {}), AuthMode>>;
  /** Ids of the identity types. Default `admin`, `guest`, `regular`. */
  identity?: { typeIds: IdentityTypeIds };
  /** Lifetimes, as `15m`, `14d`, `48h`: the defaults. */
  accessTokenExpireTime?: string;
  refreshTokenExpireTime?: string;
  onetimeTokenExpireTime?: string;
  /** A session ends so long after its sign-in, however often its refresh token is exchanged. Default `90d`. */
  sessionMaxTime?: string;
  /** Lifetime of invitations. Default `7d`. */
  invitationExpireTime?: string;
  /** Of the one-time token with which a person comes back from an identity provider. Default `5m`. */
  providerTokenExpireTime?: string;
  /** For how long security events are kept, as `365d`: the default. */
  auditRetention?: string;
  /** Every interactive sign-in takes a second step, by a code that is sent by mail. Default false. */
  mfaEnabled?: boolean;
  /** Compares passwords of people imported from a system whose hashes are not of bcrypt; the next login makes a bcrypt hash. */
  verifyImportedPassword?: PasswordVerifier;
  /** A check of its own of the passwords that people choose, after that for common ones: for breached passwords, say. */
  checkPassword?: PasswordCheck;
  /** Of new password hashes. Default 12; older hashes of a lower cost are made anew at the next login. */
  bcryptCost?: number;
  /** Browser origins that may change state in cookie mode. */
  allowedOrigins?: readonly string[];
  cookies?: CookieSettings;
  /** The server's address as its users see it. Needed with identity providers, which send people back to it. */
  publicUrl?: string;
  /** Identity providers by name: google, line, twitter, or any OpenID Connect issuer (decisions A15). */
  providers?: Readonly<Record<string, ProviderSettings>>;
  /** Where those who come back from a provider may be sent on to: each entry allows its own origin and path, with any query. */
  redirectUrls?: readonly string[];
  /** How mails leave, and what they say. Without a driver none is sent. */
  mail?: MailSettings;
  /** Files that records may have. Without a driver nothing can be uploaded. */
  files?: FilesSettings;
  /** Limits of how often something may be asked. Default true: those of docs/configuration.md. */
  rateLimits?: RateLimitSettings;
  /** Shares what instances have to share: the counts of the rate limits. Opened by `openRedis`, the host's to close. */
  redis?: RedisDriver;
  /** Of JSON bodies; bytes, or words. Default `1mb`. */
  bodyLimit?: number | string;
  /** Errors carry stacks. Default false. */
  development?: boolean;
  log?: Log;
  bus?: EventBus;
  /** Milliseconds between two signs of life that open streams are asked for. Default 30,000. */
  heartbeatMs?: number;
  /** How much anybody may have open of streams, in this process. */
  streamLimits?: Partial<StreamLimits>;
  /** Milliseconds after which a request is answered 503. Default 14,000. */
  deadlineMs?: number;
  clock?: Clock;
}

/** Lifetimes in milliseconds. */
export interface Lifetimes {
  access: number;
  refresh: number;
  onetime: number;
  /** Of a session, from its sign-in. */
  session: number;
  invitation: number;
  provider: number;
}

/**
 * Milliseconds of a time such as `15m`, `14d`, `48h`.
 * @param least in milliseconds; a second by default
 * @throws Error that names the setting
 */
export function parseLifetime(name: string, text: string, least = 1000): number {
  const milliseconds = /^\d+(\.\d+)?\s*[a-z]+$/i.test(text) ? ms(text as StringValue) : Number.NaN;
  if (!(milliseconds >= least)) throw new Error(`${name}: "${text}" is no time such as 15m, 48h or 14d`);
  return milliseconds;
}

/**
 * The secrets of a list. Short ones are refused: they could be guessed.
 * @throws Error that names the setting
 */
export function parseSecrets(name: string, list: string): string[] {
  const secrets = splitSecrets(list);
  if (secrets.some((secret) => Buffer.byteLength(secret) < SECRET_MIN_BYTES))
    throw new Error(`${name}: each secret needs at least ${SECRET_MIN_BYTES} bytes`);
  return secrets;
}

/** The mode of each service. */
export function authModes(authMode: TandemConfiguration['authMode'] = 'bearer'): (service: string) => AuthMode {
  if (typeof authMode === 'string') return () => authMode;
  return (service) => authMode[service] ?? authMode.default ?? 'bearer';
}
