import { mergeRouters, router, type IdentityTypeIds } from '@tandem/core';
import { createAuditRouter } from './audit/audit.router.js';
import { createAuthenticationRouter } from './authentication/authentication.router.js';
import type { TokenCookies } from './authentication/cookies.js';
import { createSessionsRouter } from './authentication/sessions.router.js';
import { createIdentitiesRouter } from './identities/identities.router.js';
import { createNotificationsRouter } from './notifications/notifications.router.js';
import { createOrganizationsRouter } from './organizations/organizations.router.js';
import type { Services } from './services.js';

/** All procedures. The names at the top are the services' names: in tRPC paths, in `authMode`, in the documents. */
export function createAppRouter(services: Services, options: { cookies: TokenCookies; typeIds: IdentityTypeIds }) {
  const { audit, authentication, sessions, shownSessions, identities, failedLogins, notifications } = services;
  return router({
    auth: mergeRouters(
      createAuthenticationRouter({ authentication, sessions, identities, cookies: options.cookies }),
      createSessionsRouter(shownSessions),
      createAuditRouter(audit),
    ),
    identities: createIdentitiesRouter({ identities, typeIds: options.typeIds, forgetFailedLogins: failedLogins.forget }),
    notifications: createNotificationsRouter(notifications),
    organizations: createOrganizationsRouter(services),
  });
}

/** What typed clients are made for. */
export type AppRouter = ReturnType<typeof createAppRouter>;

/** Names of the services, as `authMode` takes them. */
export const SERVICE_NAMES = [
  'auth',
  'identities',
  'notifications',
  'organizations',
] as const satisfies readonly (keyof AppRouter['_def']['record'])[];
export type ServiceName = (typeof SERVICE_NAMES)[number];
