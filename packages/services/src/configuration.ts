import type { SearchDriver } from '@tandem/lists';
import {
  SECRET_MIN_BYTES,
  type AuthMode,
  type BeforeHooks,
  type Clock,
  type EventBus,
  type IdentityTypeIds,
  type Log,
  type MfaRequired,
  type StreamLimits,
} from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import type { RedisDriver } from '@tandem/drivers/redis';
import type { Storage } from '@tandem/storage';
import bytes from 'bytes';
import ms, { type StringValue } from 'ms';
import type { CookieSettings } from './authentication/cookies.js';
import type { EventHandlers } from './events/event-records.js';
import type { DeclaredFields, WithFields } from './host-field-types.js';
import type { MailSettings } from './mail/queued-mail.js';
import type { PasswordCheck, PasswordVerifier } from './authentication/passwords/passwords.js';
import type { RateLimitSettings } from './rate-limits/limits.js';
import type { ProviderSettings } from './providers/provider-settings.js';
import type { ExposedRouter, ServiceName } from './router.js';
import type { AnyService } from './shared/define-service.js';
import type { WebhookSettings } from './webhooks/webhooks.service.js';

/** What becomes of the texts of messages of people who are erased. */
export const ERASED_MESSAGES = ['keep', 'blank'] as const;

/** One secret, or several, so that it can be rotated: the first creates tokens, all verify them. */
export type Secret = string | readonly string[];

/** The file storage and its limit. */
export interface FilesSettings {
  /** Opened with `openFilesDriver`; the host closes it. */
  driver: FilesDriver;
  /** Maximum attached bytes per identity, as a number or a text such as `5gb`. Default 5gb. */
  quota?: number | string;
}

/** Configuration by a host application (spec, "Authentication" 5 and 8). */
export interface TandemConfiguration<
  Name extends ServiceName = ServiceName,
  Own extends readonly AnyService[] = readonly [],
  Fields extends DeclaredFields = DeclaredFields,
> {
  /** The services whose procedures and streams are exposed. Default: all. The others still work inside the server. */
  services?: readonly Name[];
  /** Services of the host's own, made by `defineService`: mounted on both faces, and described, like Tandem's. */
  ownServices?: Own;
  /** The database, from `openStorage`. */
  storage: Storage;
  /** At least 32 bytes in each secret. */
  authSecrets: { authEncSecret: Secret; authSignSecret: Secret };
  /**
   * For all services, or by name, including services of the host's own; `default` covers the others. Default `bearer`.
   */
  authMode?: AuthMode | Partial<Record<ServiceName | 'default' | (string & {}), AuthMode>>;
  /** Ids of the identity types. Default `admin`, `guest`, `regular`. */
  identity?: { typeIds: IdentityTypeIds };
  /** Lifetimes. Defaults `15m`, `14d`, `48h`. */
  accessTokenExpireTime?: string;
  refreshTokenExpireTime?: string;
  onetimeTokenExpireTime?: string;
  /** Maximum age of a session since its sign-in, however often its token is refreshed. Default `90d`. */
  sessionMaxTime?: string;
  /** Lifetime of invitations. Default `7d`. */
  invitationExpireTime?: string;
  /** Lifetime of the one-time token with which a person returns from an identity provider. Default `5m`. */
  providerTokenExpireTime?: string;
  /** How long security events are kept. Default `365d`. */
  auditRetention?: string;
  /** How long events are kept. Default `30d`. */
  eventRetention?: string;
  /** Whether events of messages show their texts. Default false. */
  eventMessageTexts?: boolean;
  /** From the request of an erasure to it: `0s` for at once. Default `14d`. */
  erasureDelay?: string;
  /** What becomes of the texts of messages of people who are erased. Default `keep`. */
  erasedMessages?: (typeof ERASED_MESSAGES)[number];
  /** How long deleted records can be restored; then they are removed for good, with what belongs to them. Default `off`. */
  deletedRetention?: string;
  /** The same for orders. Default `off`. */
  deletedRetentionOrders?: string;
  /** Requires a second step at every interactive sign-in: a code sent by mail. Default false. */
  mfaEnabled?: boolean;
  /** Who needs a second factor of their own, an authenticator app or passkey. Default `none` (decisions F5). */
  mfaRequired?: MfaRequired;
  /** The host name for which passkeys are made. Default that of `publicUrl`; where that is an address, passkeys are off. */
  passkeyRpId?: string;
  /** Compares passwords of imported people whose hashes are not bcrypt. The next login replaces such a hash by a bcrypt hash. */
  verifyImportedPassword?: PasswordVerifier;
  /** The host's own check of new passwords, after the one for common passwords; for example for breached passwords. */
  checkPassword?: PasswordCheck;
  /** Cost of new password hashes. Default 12. Hashes of a lower cost are replaced at the next login. */
  bcryptCost?: number;
  /** Browser origins that may change state in cookie mode. */
  allowedOrigins?: readonly string[];
  cookies?: CookieSettings;
  /** The server's address as its users see it. Required with identity providers, which redirect people back to it. */
  publicUrl?: string;
  /** Identity providers by name: google, line, twitter, or any OpenID Connect issuer (decisions A15). */
  providers?: Readonly<Record<string, ProviderSettings>>;
  /** Allowed addresses for people returning from a provider. Each entry allows its origin and path with any query. */
  redirectUrls?: readonly string[];
  /** Mail driver and templates. Without a driver no mail is sent. */
  mail?: MailSettings;
  /** The files of records. Without a driver nothing can be uploaded. */
  files?: FilesSettings;
  /** Further fields of Tandem's records, by service: `{ products: z.object({ gtin: z.string().optional() }) }`. */
  fields?: Fields;
  /**
   * Functions that run before operations, by operation: after rules and validation, before the handler (docs/embedding.md). They may
   * throw a declared error, or return another input.
   */
  before?: BeforeHooks<WithFields<ExposedRouter<Name, Own[number]>, Fields>>;
  /**
   * Functions that are called with each event of a type, until they return (docs/events.md): from their first start on, on one
   * instance at a time, after a crash again.
   */
  on?: EventHandlers<NonNullable<Own[number]['tells']>[number]>;
  /** To which addresses webhooks are sent, and for how long. */
  webhooks?: WebhookSettings;
  /** Answers `$search` in place of the index that storage keeps with the records. */
  search?: SearchDriver;
  /** Rate limits. Default true: those of docs/configuration.md. */
  rateLimits?: RateLimitSettings;
  /** State that instances share, such as rate limit counts. Opened with `openRedis`; the host closes it. */
  redis?: RedisDriver;
  /** Maximum size of JSON bodies, in bytes or as text. Default `1mb`. */
  bodyLimit?: number | string;
  /**
   * Whether agents reach the operations by the Model Context Protocol at `POST /mcp`, and what they are told of the server
   * (docs/mcp.md). Requires the package `@modelcontextprotocol/server`. Default false; true stands for Tandem, 1.
   */
  mcp?: boolean | { name: string; version: string };
  /** Adds stack traces to error answers. Default false. */
  development?: boolean;
  log?: Log;
  bus?: EventBus;
  /** Interval between heartbeats of open streams, in milliseconds. Default 30,000. */
  heartbeatMs?: number;
  /** Limits of open streams, per process. */
  streamLimits?: Partial<StreamLimits>;
  /** Milliseconds until a request is answered 503. Default 14,000. */
  deadlineMs?: number;
  /** @deprecated Has no effect: services go by the clock of the storage. */
  clock?: Clock;
}

/**
 * Parses a duration such as `15m`, `14d` or `48h` to milliseconds.
 * @param least in milliseconds; default one second
 * @throws Error naming the setting
 */
export function parseLifetime(name: string, text: string, least = 1000): number {
  const milliseconds = /^\d+(\.\d+)?\s*[a-z]+$/i.test(text) ? ms(text as StringValue) : Number.NaN;
  if (!(milliseconds >= least)) throw new Error(`${name} must be a duration such as 15m, 48h or 14d, not "${text}"`);
  return milliseconds;
}

/**
 * A size in bytes: a number, or a text such as `1mb`.
 * @throws Error naming the setting
 */
export function parseSize(name: string, size: number | string): number {
  // of a unit that it does not know, `bytes` takes the number: `2m` would be two bytes
  const isSize = typeof size === 'number' || /^\d+(\.\d+)?\s*([kmgtp]?b)?$/i.test(size);
  const count = isSize ? bytes.parse(size) : null;
  if (count === null) throw new Error(`${name} must be a size such as 1mb, not "${size}"`);
  return count;
}

/** How long something is kept, in milliseconds; undefined for `off`. @throws Error naming the setting */
export function parseRetention(name: string, text = 'off'): number | undefined {
  return text === 'off' ? undefined : parseLifetime(name, text);
}

/**
 * The secrets that a setting gives. Refuses short ones, which could be guessed.
 * @throws Error naming the setting
 */
export function parseSecrets(name: string, given: Secret): string[] {
  const secrets = [given].flat();
  if (secrets.length === 0 || secrets.some((secret) => Buffer.byteLength(secret) < SECRET_MIN_BYTES))
    throw new Error(`${name} must have at least ${SECRET_MIN_BYTES} bytes in each secret`);
  return secrets;
}

/** The auth mode of each service. */
export function authModes(authMode: TandemConfiguration['authMode'] = 'bearer'): (service: string) => AuthMode {
  if (typeof authMode === 'string') return () => authMode;
  return (service) => authMode[service] ?? authMode.default ?? 'bearer';
}
