import type { FilesDriver } from '@tandem/drivers/files';
import { createAttributesService } from './attributes/attributes.service.js';
import { createAuditService } from './audit/audit.service.js';
import { createMailPreparation } from './authentication/mail-preparation.js';
import { createSignIn, type SignInSettings } from './authentication/sign-in.js';
import { createCategoriesService } from './categories/categories.service.js';
import { createChatService } from './chat/chat.service.js';
import { createFilesService } from './files/files.service.js';
import { createIdentitiesService } from './identities/identities.service.js';
import { createMailsService } from './mail/mails.service.js';
import { createAcceptanceService } from './invitations/acceptance.service.js';
import { createInvitationMails } from './invitations/invitation-mails.js';
import { createInvitationLimits } from './invitations/invitation-limits.js';
import { createStanding } from './invitations/standing.js';
import { createInvitationsService } from './invitations/invitations.service.js';
import { createChangeRequestsService } from './organizations/change-requests.service.js';
import { createJoinings } from './organizations/joinings.js';
import { createMembersService } from './organizations/members.service.js';
import { createOrganizationsService } from './organizations/organizations.service.js';
import { createLocationsService } from './locations/locations.service.js';
import { createOrdersService } from './orders/orders.service.js';
import { createProductVariantsService } from './product-variants/product-variants.service.js';
import { createPriceLines } from './products/price-lines.js';
import { createProductImagesService } from './products/product-images.service.js';
import { IMAGES_MAX } from './products/products.schemas.js';
import { createProductsService } from './products/products.service.js';
import { createNotificationsService } from './notifications/notifications.service.js';
import { createFollowsService } from './profiles/follows.service.js';
import { createLikesService } from './profiles/likes.service.js';
import { createProfilesService } from './profiles/profiles.service.js';
import { createLists } from './shared/lists.js';
import type { OauthConfiguration } from './providers/oauth-configuration.js';
import { createStreamTickets } from './streams/stream-tickets.js';
import { createOauthStates } from './providers/oauth-states.js';
import { createProvidersService } from './providers/providers.service.js';

interface ServicesOptions extends SignInSettings {
  /** Milliseconds after which a security event is removed. */
  auditRetention: number;
  /** The first signs `$nextToken`; all are accepted. */
  cursorSecrets: readonly Uint8Array[];
  files: FilesDriver | undefined;
  /** Maximum attached bytes per identity. */
  filesQuota: number;
  oauth: OauthConfiguration;
}

/** Creates all services and connects them. */
export function createServices(options: ServicesOptions) {
  const { storage, bus, log, typeIds, lifetimes, rateLimits } = options;
  const lists = createLists({ storage, cursorSecrets: options.cursorSecrets, log });
  const audit = createAuditService({ storage, log, lists, retention: options.auditRetention });
  const mails = createMailsService({ storage, log, settings: options.mail });
  const files = createFilesService({ storage, log, driver: options.files, quotaBytes: options.filesQuota });
  const identities = createIdentitiesService({
    storage,
    lists,
    bus,
    log,
    audit,
    mails,
    removeSessions: (identityId, state) => sessions.removeEnded(identityId, state),
    review: (identityIds) => standing.review(identityIds),
    reviewAfter: (identityIds, change) => standing.reviewAfter(identityIds, change),
  });
  const signIn = createSignIn({ ...options, lists, audit, mails, identities });
  const { sessions, shownSessions, onetimeTokens, passwords, proofs, credentialsOf, codes } = signIn;
  const { accessStateOf } = identities;
  const streamTickets = createStreamTickets({ storage, identityOf: sessions.identityOf });
  const locations = createLocationsService({ storage, lists });
  const notifications = createNotificationsService({ storage, bus, lists });
  const categories = createCategoriesService({ storage, lists });
  const attributes = createAttributesService({ storage, lists });
  const images = files.attachments({ purpose: 'product-image', max: IMAGES_MAX });
  const productExists = async (productId: string) => (await products.existing([productId])).has(productId);
  const productImages = createProductImagesService({ images, productExists });
  const productVariants = createProductVariantsService({ storage, lists, productExists, imagesOf: images.idsOf });
  const catalogue = createProductsService({
    storage,
    lists,
    categories,
    attributes,
    organizationExists: async (organizationId) => (await organizations.nameOf(organizationId)) !== undefined,
    images,
  });
  const products = { ...catalogue, priceOf: createPriceLines(catalogue, productVariants) };
  const joinings = createJoinings(storage);
  const logos = files.attachments({ purpose: 'organization-logo', max: 1 });
  const certificates = files.attachments({ purpose: 'organization-certificate' });
  const organizations = createOrganizationsService({
    storage,
    lists,
    existingIdentities: identities.existing,
    logos,
  });
  const avatars = files.attachments({ purpose: 'profile-avatar', max: 1 });
  const orders = createOrdersService({
    storage,
    lists,
    organizations,
    existingIdentities: identities.existing,
    priceOf: products.priceOf,
  });
  const follows = createFollowsService({
    storage,
    lists,
    avatars,
    organizationExists: async (organizationId) => (await organizations.nameOf(organizationId)) !== undefined,
  });
  const likes = createLikesService({
    storage,
    lists,
    avatars,
    productExists,
  });
  const profiles = createProfilesService({
    storage,
    lists,
    existingIdentities: identities.existing,
    avatars,
  });
  const chat = createChatService({
    storage,
    lists,
    bus,
    files,
    existingIdentities: identities.existing,
    organizationExists: async (organizationId) => (await organizations.nameOf(organizationId)) !== undefined,
  });
  const changeRequests = createChangeRequestsService({ storage, lists, certificates });
  const standing = createStanding({
    storage,
    typeIds,
    accessStateOf,
    organizations,
    withdrawTokens: onetimeTokens.withdraw,
  });
  const { reviewAfter } = standing;
  const members = createMembersService({ storage, lists, existingIdentities: identities.existing, reviewAfter });
  const emailOf = async (identityId: string) => (await identities.credentialsOf({ id: identityId }))?.email;
  const invitationMails = createInvitationMails({ storage, log, mails, onetimeTokens, organizations, standing, emailOf });
  const invitations = createInvitationsService({
    storage,
    lists,
    audit,
    organizations,
    lifetime: lifetimes.invitation,
    relay: invitationMails.relay,
    withdrawTokens: onetimeTokens.withdraw,
    limits: createInvitationLimits(storage),
  });
  const acceptance = createAcceptanceService({
    storage,
    identities,
    sessions,
    organizations,
    joinings,
    standing,
    onetimeTokens,
    passwords,
    audit,
    rateLimits,
    typeId: typeIds.regular,
  });
  const prepareOther = createMailPreparation({ identities, onetimeTokens, codes, onetimeLifetime: lifetimes.onetime });
  mails.prepareWith((mail) => (mail.template === 'invitation' ? invitationMails.prepare(mail) : prepareOther(mail)));
  mails.collectWith(async () => {
    await identities.relayMails();
    await invitationMails.relayAll();
  });
  const providers = createProvidersService({
    clients: options.oauth.clients,
    states: createOauthStates(storage),
    identities,
    typeIds,
    log,
    audit,
    provePassword: async (identityId, password, by) => proofs.proveIfSet(await credentialsOf(identityId), password, by),
    proveFresh: proofs.proveFresh,
    liveSession: shownSessions.findLive,
    createLoginToken: (given) => onetimeTokens.create({ ...given, target: 'login', lifetimeMs: lifetimes.provider }),
  });
  return {
    audit,
    mails,
    files,
    identities,
    onetimeTokens,
    sessions,
    shownSessions,
    streamTickets,
    failedLogins: signIn.failedLogins,
    passwords,
    authentication: signIn.authentication,
    mfa: signIn.mfa,
    emails: signIn.emails,
    passwordChanges: signIn.passwordChanges,
    locations,
    notifications,
    categories,
    attributes,
    chat,
    orders,
    products,
    productImages,
    productVariants,
    profiles,
    follows,
    likes,
    rateLimits,
    organizations,
    organizationFiles: { logos, certificates },
    changeRequests,
    members,
    invitations,
    acceptance,
    providers,
  };
}
export type Services = ReturnType<typeof createServices>;
