export { authenticationServiceErrors } from './authentication/authentication.errors.js';
export type { CookieSettings } from './authentication/cookies.js';
export { authModes, parseLifetime, parseSecrets, type Lifetimes, type TandemConfiguration } from './configuration.js';
export { identityErrors } from './identities/identities.errors.js';
export { notificationErrors } from './notifications/notifications.errors.js';
export { SERVICE_NAMES, type AppRouter, type ServiceName } from './router.js';
export type { Services } from './services.js';
export { Email, Id, PaginationMetadata, Timestamp, pageOf, pageParameters } from './shared/schemas.js';
export { createTandem, type Tandem } from './tandem.js';
