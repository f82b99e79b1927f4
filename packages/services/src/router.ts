import { mergeRouters, router, type IdentityTypeIds } from '@tandem/core';
import { createAttributesRouter } from './attributes/attributes.router.js';
import { createAuditRouter } from './audit/audit.router.js';
import { createAccountsRouter } from './authentication/accounts.router.js';
import { createAuthenticationRouter } from './authentication/authentication.router.js';
import type { TokenCookies } from './authentication/cookies.js';
import { createEmailsRouter } from './authentication/emails.router.js';
import { createMfaRouter } from './authentication/mfa.router.js';
import { createPasswordChangesRouter } from './authentication/password-changes.router.js';
import { createSessionsRouter } from './authentication/sessions.router.js';
import { createSignInAnswers } from './authentication/sign-in-answers.js';
import { createCategoriesRouter } from './categories/categories.router.js';
import { createChatRouter } from './chat/chat.router.js';
import { createIdentitiesRouter } from './identities/identities.router.js';
import { createInvitationsRouter } from './invitations/invitations.router.js';
import { createLocationsRouter } from './locations/locations.router.js';
import { createProductVariantsRouter } from './product-variants/product-variants.router.js';
import { createOrdersRouter } from './orders/orders.router.js';
import { createProductImagesRouter } from './products/product-images.router.js';
import { createProductRules } from './products/product-rules.js';
import { createProductsRouter } from './products/products.router.js';
import { createNotificationsRouter } from './notifications/notifications.router.js';
import { createOrganizationFilesRouter } from './organizations/organization-files.router.js';
import { createChangeRequestsRouter } from './organizations/change-requests.router.js';
import { createOrganizationsRouter } from './organizations/organizations.router.js';
import { createOnetimeTokensRouter } from './onetime-tokens/onetime-tokens.router.js';
import { createFollowsRouter, createOrganizationFollowersRouter } from './profiles/follows.router.js';
import { createLikersRouter, createLikesRouter } from './profiles/likes.router.js';
import { createProfilesRouter } from './profiles/profiles.router.js';
import type { BrowserCookies } from './providers/browser-cookies.js';
import { createProvidersRouter } from './providers/providers.router.js';
import type { Services } from './services.js';
import type { Subscriptions } from './streams/subscriptions.router.js';

interface AppRouterOptions {
  cookies: TokenCookies;
  browserCookies: BrowserCookies;
  /** Where identity providers may send people back to. */
  redirectUrls: ReadonlySet<string>;
  typeIds: IdentityTypeIds;
  subscriptions: Subscriptions;
}

/** Everything below `/auth`, topic by topic. */
function createAuthRouter(services: Services, { cookies, browserCookies, redirectUrls }: AppRouterOptions) {
  const { authentication, audit, sessions, identities, onetimeTokens, rateLimits } = services;
  const registerInvited = services.acceptance.register;
  const answers = createSignInAnswers(cookies);
  return mergeRouters(
    createAuthenticationRouter({
      authentication,
      sessions,
      identities,
      onetimeTokens,
      registerInvited,
      rateLimits,
      answers,
      cookies,
    }),
    createMfaRouter(services, answers),
    createOnetimeTokensRouter({ onetimeTokens, authentication, audit, rateLimits, answers, browserCookies }),
    createEmailsRouter(services),
    createPasswordChangesRouter(services),
    createAccountsRouter(identities),
    createSessionsRouter(services.shownSessions),
    createAuditRouter(audit),
    createProvidersRouter({ providers: services.providers, identities, rateLimits, browserCookies, redirectUrls }),
  );
}

/** All procedures. The names at the top are the services' names: in tRPC paths, in `authMode`, in the documents. */
export function createAppRouter(services: Services, options: AppRouterOptions) {
  const { identities, failedLogins, notifications, organizations, profiles, follows, likes } = services;
  const { products, productVariants } = services;
  const productRules = createProductRules({ products, roleOf: organizations.roleOf });
  return router({
    attributes: createAttributesRouter(services.attributes),
    auth: createAuthRouter(services, options),
    categories: createCategoriesRouter(services.categories),
    chat: mergeRouters(
      createChatRouter({ chat: services.chat, roleOf: organizations.roleOf }),
      router({ createListenTicket: services.streamTickets.procedure('messages') }),
      options.subscriptions.chat,
    ),
    identities: createIdentitiesRouter({ identities, typeIds: options.typeIds, forgetFailedLogins: failedLogins.forget }),
    invitations: createInvitationsRouter(services),
    locations: createLocationsRouter(services.locations),
    notifications: mergeRouters(
      createNotificationsRouter(notifications, services.streamTickets),
      options.subscriptions.notifications,
    ),
    orders: createOrdersRouter(services),
    organizations: mergeRouters(
      createOrganizationsRouter(services),
      createOrganizationFilesRouter(services),
      createChangeRequestsRouter({ changeRequests: services.changeRequests, roleOf: organizations.roleOf }),
      createOrganizationFollowersRouter({ follows, roleOf: organizations.roleOf }),
    ),
    profiles: mergeRouters(
      createProfilesRouter(profiles),
      createFollowsRouter({ follows, ownerOf: profiles.ownerOf }),
      createLikesRouter({ likes, ownerOf: profiles.ownerOf }),
    ),
    products: mergeRouters(
      createProductsRouter({ products, rules: productRules, roleOf: organizations.roleOf }),
      createProductImagesRouter({ productImages: services.productImages, rules: productRules }),
      createLikersRouter(likes),
    ),
    productVariants: createProductVariantsRouter({ variants: productVariants, rules: productRules }),
  });
}

/** What typed clients are made for. */
export type AppRouter = ReturnType<typeof createAppRouter>;

/** Names of the services, as `authMode` takes them. */
export const SERVICE_NAMES = [
  'attributes',
  'auth',
  'categories',
  'chat',
  'identities',
  'invitations',
  'locations',
  'notifications',
  'orders',
  'organizations',
  'products',
  'productVariants',
  'profiles',
] as const satisfies readonly (keyof AppRouter['_def']['record'])[];
export type ServiceName = (typeof SERVICE_NAMES)[number];

/**
 * The procedures of some services alone, by their names.
 * @throws Error when there is no such service
 */
export function pickServices<Name extends ServiceName>({ _def: { record } }: AppRouter, names: readonly Name[]) {
  const unknown = names.find((name) => !SERVICE_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`services: there is no service "${unknown}"`);
  return router(Object.fromEntries(names.map((name) => [name, record[name]])) as unknown as Pick<typeof record, Name>);
}
