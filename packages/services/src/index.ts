export {
  PaginationMetadata,
  listErrors,
  pageOf,
  pageParameters,
  type FoundRecords,
  type ListAnswer,
  type SearchDriver,
} from '@tandem/lists';
export { SECURITY_EVENTS, type SecurityEventType } from './audit/event-types.js';
export { NO_REQUEST, requestFactsOf, type RequestFacts } from './audit/request-facts.js';
export { relyingPartyOf } from './authentication/factors/relying-party.js';
export type { PasswordCheck, PasswordVerifier } from './authentication/passwords/passwords.js';
export { parseCookieDomain, type CookieSettings } from './authentication/cookies.js';
export { authModes, parseLifetime, parseSecrets, parseSize, type Secret, type TandemConfiguration } from './configuration.js';
export type { Lifetimes } from './authentication/lifetimes.js';
export { ChatEventSchema, channelTopic, publishChatEvent, type ChatEvent } from './chat/chat-events.js';
export { IMAGE_TYPES } from './files/file-types.js';
export { fileAddressErrors, fileErrors } from './files/files.errors.js';
export { FileSchema, GivenFileSchema, UploadAddressSchema, uploadParameters } from './files/files.schemas.js';
export type { JobRun } from './jobs/jobs.js';
export { layOut, type MailContent, type MailLook, type RenderedMail } from './mail/layout.js';
export { MAIL_COLOR, MAIL_PAGES } from './mail/outgoing-mail.js';
export type { MailSettings, PreparedMail, QueuedMail } from './mail/queued-mail.js';
export type { MailTemplate, MailTemplateName, MailTemplates, MailValues } from './mail/templates.js';
export { MANAGING_ROLES, ORGANIZATION_ROLES, type OrganizationRole } from './organizations/roles.js';
export { RATE_LIMITS, type LimitName, type Limit, type RateLimitSettings } from './rate-limits/limits.js';
export type { ProviderSettings } from './providers/provider-settings.js';
export { KNOWN_PROVIDERS } from './providers/known-providers.js';
export { contactProviders } from './providers/oauth-configuration.js';
export { neededSettings, readProviders } from './providers/provider-settings.js';
export { REDIRECT_ERRORS } from './providers/providers.errors.js';
export { parseRedirectUrls } from './providers/redirect-urls.js';
export { isTrustedAddress } from './providers/trusted-address.js';
export {
  SERVICES,
  SERVICE_NAMES,
  allServices,
  type AllServices,
  type AppRouter,
  type ErrorCode,
  type ListShapes,
  type ServiceName,
  type Services,
} from './router.js';
export type { DeclaredFields, WithFields } from './host-field-types.js';
export { definePart, defineService, type AnyService, type ServiceDefinition, type ShapeOf } from './shared/define-service.js';
export { SHARED_ERRORS } from './shared/shared-errors.js';
export { defineRecord, field, serverField, type GivenField, type ServerField, type StoredFields } from './shared/record.js';
export {
  actionRoute,
  createManyRoute,
  createRoute,
  deleteManyRoute,
  deleteRoute,
  getRoute,
  listRoute,
  moveRoute,
  patchManyRoute,
  patchRoute,
  publicGetRoute,
  publicListRoute,
  removeRoute,
  restoreRoute,
} from './shared/record-routes.js';
export { madeIn, manyMadeIn } from './shared/made-records.js';
export { Email, Id, Ids, Line, Name, Text, Timestamp } from './shared/schemas.js';
export type { AsyncApiDocument, AsyncApiOptions } from './streams/asyncapi.js';
export type { WebhookSettings } from './webhooks/webhooks.service.js';
export type { ChatServerFrame } from './streams/chat-frames.js';
export type { NotificationServerFrame } from './streams/notification-frames.js';
export { createTandem, type StartOptions, type Tandem } from './tandem.js';
