import { MFA_REQUIRED } from '@tandem/core';
import { isFilesUrl } from '@tandem/drivers/files';
import { isMailUrl } from '@tandem/drivers/mail';
import { isRedisUrl } from '@tandem/drivers/redis';
import { MAIL_COLOR, SERVICE_NAMES, parseLifetime } from '@tandem/services';
import { z } from 'zod';
import {
  CookieDomain,
  Delay,
  Flag,
  HttpAddress,
  Lifetime,
  MAIL_SENDER,
  Mode,
  Origins,
  PROXIES_TEXT,
  Proxies,
  RedirectUrls,
  Retention,
  Secrets,
  Size,
  Switch,
  WholeNumber,
} from './env-values.js';

/** A variable of the environment: its parser, default and meaning. */
export interface Variable<T> {
  read: z.ZodType<T, string>;
  /** The default text; undefined where the variable is optional. */
  fallback?: string;
  /** Shown in the documents where there is no fixed default. */
  defaultText?: string;
  meaning: string;
}

function variable<const V extends Variable<unknown>>(definition: V): V {
  return definition;
}

/** Every variable of the server; nothing else reads the environment. */
export const VARIABLES = {
  PORT: variable({ read: WholeNumber(0, 65_535), fallback: '3000', meaning: 'Port to listen on; 0 takes a free one' }),
  HOST: variable({ read: z.string().min(1), fallback: '127.0.0.1', meaning: 'Address to listen on; 0.0.0.0 for all' }),
  PUBLIC_URL: variable({
    read: HttpAddress,
    defaultText: 'from HOST and PORT',
    meaning: "The server's public URL; its origin may change state in cookie mode",
  }),
  NODE_ENV: variable({
    read: z.string(),
    fallback: 'production',
    meaning: '`development` adds stacks to errors, makes logs readable and generates missing secrets',
  }),
  SHUTDOWN_DELAY: variable({
    read: Delay.transform((text) => parseLifetime('SHUTDOWN_DELAY', text, 0)),
    fallback: '1s',
    meaning: 'How long a stopping server still accepts connections, so that load balancers notice',
  }),
  DATA_DIR: variable({
    read: z.string().min(1),
    fallback: '.data',
    meaning: 'Folder of the embedded database, files, unsent mails and generated secrets',
  }),
  MONGODB_URI: variable({
    read: z.string().regex(/^mongodb(\+srv)?:\/\/./, 'must be a mongodb:// or mongodb+srv:// address'),
    defaultText: 'none',
    meaning:
      'A MongoDB 7.0 or later instead of the embedded engine; its path names the database, else `tandem` (docs/deployment.md)',
  }),
  MONGODB_POOL_SIZE: variable({
    read: WholeNumber(5, 1000),
    defaultText: '50',
    meaning: 'Most connections of a process to MongoDB; the embedded engine always has 8',
  }),
  REDIS_URL: variable({
    read: z.string().refine(isRedisUrl, 'must be a redis:// or rediss:// address'),
    defaultText: 'none',
    meaning: 'A Redis through which instances share rate limits and events',
  }),
  RATE_LIMITS: variable({
    read: Switch,
    fallback: 'on',
    meaning: 'Whether to limit requests by address and account',
  }),
  AUTH_MODE: variable({
    read: Mode,
    fallback: 'bearer',
    meaning: '`bearer`: access tokens in the Authorization header; `cookie`: in cookies',
  }),
  AUTH_ENC_SECRET: variable({
    read: Secrets,
    defaultText: 'development only: generated',
    meaning: 'Encrypts tokens, at least 32 bytes; in a comma-separated list the first encrypts, all decrypt',
  }),
  AUTH_SIGN_SECRET: variable({
    read: Secrets,
    defaultText: 'development only: generated',
    meaning: 'Signs tokens, with the same rules',
  }),
  ACCESS_TOKEN_EXPIRE_TIME: variable({ read: Lifetime, fallback: '15m', meaning: 'Lifetime of access tokens' }),
  REFRESH_TOKEN_EXPIRE_TIME: variable({ read: Lifetime, fallback: '14d', meaning: 'Lifetime of refresh tokens' }),
  ONETIME_TOKEN_EXPIRE_TIME: variable({ read: Lifetime, fallback: '48h', meaning: 'Lifetime of one-time tokens' }),
  SESSION_MAX_TIME: variable({
    read: Lifetime,
    fallback: '90d',
    meaning: 'Longest session, however often its refresh token is exchanged',
  }),
  INVITATION_EXPIRE_TIME: variable({ read: Lifetime, fallback: '7d', meaning: 'Lifetime of invitations' }),
  AUDIT_RETENTION: variable({ read: Lifetime, fallback: '365d', meaning: 'How long security events are kept' }),
  EVENT_RETENTION: variable({ read: Lifetime, fallback: '30d', meaning: 'How long events are kept' }),
  EVENT_MESSAGE_TEXTS: variable({
    read: Switch,
    fallback: 'off',
    meaning: 'Whether events of messages show their texts: `on` or `off`',
  }),
  ERASURE_DELAY: variable({
    read: Delay,
    fallback: '14d',
    meaning: 'From the request to erase a person until it is done; `0s` for at once (docs/personal-data.md)',
  }),
  ERASED_MESSAGES: variable({
    read: z.enum(['keep', 'blank'], 'must be keep or blank'),
    fallback: 'keep',
    meaning: 'Whether the texts of messages of erased people stay: `keep` or `blank`',
  }),
  DELETED_RETENTION: variable({
    read: Retention,
    fallback: 'off',
    meaning: 'How long deleted records can be restored, until they are removed for good; `off` for ever',
  }),
  DELETED_RETENTION_ORDERS: variable({ read: Retention, fallback: 'off', meaning: 'The same for orders' }),
  IDENTITY_TYPE_ADMIN: variable({ read: z.string().min(1), fallback: 'admin', meaning: 'Id of the identity type of admins' }),
  IDENTITY_TYPE_GUEST: variable({ read: z.string().min(1), fallback: 'guest', meaning: 'Id of the identity type of guests' }),
  IDENTITY_TYPE_REGULAR: variable({
    read: z.string().min(1),
    fallback: 'regular',
    meaning: 'Id of the identity type of new accounts',
  }),
  MFA_ENABLED: variable({
    read: Flag,
    fallback: 'false',
    meaning: 'Whether every sign-in requires a code sent by mail',
  }),
  MFA_REQUIRED: variable({
    read: z.enum(MFA_REQUIRED),
    fallback: 'none',
    meaning: 'Who needs a factor of their own, an authenticator app or passkey: `none`, `admins` or `all`',
  }),
  PASSKEY_RP_ID: variable({
    read: z.string().regex(/^[a-z\d-]+(\.[a-z\d-]+)*$/, 'must be a host name such as example.org'),
    defaultText: 'the host of PUBLIC_URL',
    meaning: 'Host name for which passkeys are made; they also work on the hosts below it',
  }),
  BCRYPT_COST: variable({
    read: WholeNumber(4, 16),
    fallback: '12',
    meaning: 'Cost of new password hashes; each step doubles the work',
  }),
  BOOTSTRAP_ADMIN_EMAIL: variable({
    read: z.string().trim().toLowerCase().check(z.email('must be an email address')),
    defaultText: 'none',
    meaning: 'Creates an admin with this verified email at start if there is none',
  }),
  BOOTSTRAP_ADMIN_PASSWORD: variable({
    read: z.string().min(8, 'must have at least 8 characters'),
    defaultText: 'none',
    meaning: "That admin's password",
  }),
  ADMIN_PASSWORD: variable({
    read: z.string().min(1),
    defaultText: 'asked for',
    meaning: 'Password for the command `admin create`',
  }),
  MAIL_URL: variable({
    read: z.string().refine(isMailUrl, 'must be outbox: or an smtp:// or smtps:// address'),
    fallback: 'outbox:',
    meaning:
      '`smtp://` or `smtps://user:password@host:port` sends mails, `outbox:` writes each as a JSON file into `DATA_DIR/outbox`',
  }),
  MAIL_FROM: variable({
    read: z.string().trim().regex(MAIL_SENDER, 'must be an address, or Name <address>'),
    fallback: 'Tandem <no-reply@localhost>',
    meaning: 'Sender of mails',
  }),
  MAIL_LOGO_URL: variable({
    read: HttpAddress,
    defaultText: 'the name in `MAIL_FROM`',
    meaning: 'Address of the logo above the text of mails, shown 32 pixels high',
  }),
  MAIL_COLOR: variable({
    read: z.string().regex(MAIL_COLOR, 'must be a color such as #1f4fd8'),
    defaultText: 'a blue',
    meaning: 'Color of buttons and links in mails, as `#rrggbb`',
  }),
  MAIL_LINKS_URL: variable({
    read: HttpAddress,
    defaultText: 'PUBLIC_URL',
    meaning: 'Base of the links in mails (docs/authentication.md)',
  }),
  FILES_URL: variable({
    read: z.string().refine(isFilesUrl, 'must be disk: or s3://bucket with endpoint and region in its query'),
    fallback: 'disk:',
    meaning:
      '`disk:` keeps files in `DATA_DIR/files`, `s3://key:secret@bucket/folder?endpoint=https://…&region=…` in S3 or a compatible storage; without key and secret, those of the AWS environment apply',
  }),
  FILES_QUOTA: variable({
    read: Size,
    fallback: '5gb',
    meaning: 'Total size of an identity’s attached files',
  }),
  WEBHOOK_PRIVATE_ADDRESSES: variable({
    read: Switch,
    fallback: 'off',
    meaning: 'Whether webhooks may be sent to addresses that are not public, such as localhost: for development',
  }),
  CONSOLE: variable({
    read: Switch,
    fallback: 'on',
    meaning: 'Whether to serve `/console` and the pages that mails link to',
  }),
  CONSOLE_NAME: variable({
    read: z.string().trim().min(1, 'must be a name').max(40, 'must have at most 40 characters'),
    fallback: 'Tandem',
    meaning: 'What the console calls itself',
  }),
  CONSOLE_LOGO_URL: variable({
    read: HttpAddress,
    defaultText: 'a bicycle',
    meaning: 'Address of the logo beside that name, shown 28 pixels high',
  }),
  CONSOLE_COLOR: variable({
    read: z.string().regex(MAIL_COLOR, 'must be a color such as #1f4fd8'),
    defaultText: 'a green',
    meaning: 'Color of buttons and links in the console, as `#rrggbb`; dark enough for white text on it',
  }),
  MCP: variable({
    read: Switch,
    fallback: 'off',
    meaning: 'Whether agents reach the operations by the Model Context Protocol at `/mcp` (docs/mcp.md)',
  }),
  CORS_ORIGINS: variable({ read: Origins, fallback: '', meaning: 'Browser origins that may call, comma-separated' }),
  REDIRECT_URLS: variable({
    read: RedirectUrls,
    fallback: '',
    meaning: 'Addresses to return to from identity providers, comma-separated: each allows its origin and path, with any query',
  }),
  PROVIDER_TOKEN_EXPIRE_TIME: variable({
    read: Lifetime,
    fallback: '5m',
    meaning: 'Lifetime of the one-time token of a return from an identity provider',
  }),
  BODY_LIMIT: variable({
    read: Size,
    fallback: '1mb',
    meaning: 'Largest JSON body',
  }),
  COOKIE_DOMAIN: variable({ read: CookieDomain, defaultText: 'none', meaning: 'Domain of the cookies of cookie mode' }),
  COOKIE_SAME_SITE: variable({
    read: z.enum(['strict', 'lax', 'none'], 'must be strict, lax or none'),
    fallback: 'strict',
    meaning: 'SameSite of the cookies',
  }),
  COOKIE_SECURE: variable({ read: Flag, fallback: 'true', meaning: 'Whether browsers send the cookies over https only' }),
  COOKIE_PREFIX: variable({
    read: z.enum(['', '__Host-', '__Secure-'], 'must be __Host- or __Secure-'),
    fallback: '',
    meaning:
      'Prefix of all cookie names: `__Host-` binds cookies to this host, `__Secure-` to https. Changing it ends all cookie sessions',
  }),
  METRICS_TOKEN: variable({
    read: z.string().min(16, 'must have at least 16 characters'),
    defaultText: 'none',
    meaning: 'Bearer token for /metrics; without it only loopback may read them',
  }),
  TRUST_PROXY: variable({
    read: z.union([Flag, WholeNumber(1, 10), Proxies], PROXIES_TEXT),
    fallback: 'false',
    meaning: 'Which proxies may report the caller’s address: false, true, how many, or their addresses',
  }),
  LOG_LEVEL: variable({
    read: z.enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'must be trace, debug, info, warn, error, fatal or silent',
    ),
    fallback: 'info',
    meaning: 'Least severe level in the log',
  }),
};

/** `AUTH_MODE_<SERVICE>`: the mode of one service. */
export const AUTH_MODE_VARIABLES = Object.fromEntries(
  SERVICE_NAMES.map((service) => [service, { name: `AUTH_MODE_${service.toUpperCase()}`, read: Mode }] as const),
);
