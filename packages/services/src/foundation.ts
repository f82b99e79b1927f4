import { requiresFactor, type MfaRequired } from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import { createLists, type SearchDriver } from '@tandem/lists';
import { createAuditService } from './audit/audit.service.js';
import { createMailPreparation } from './authentication/emails/mail-preparation.js';
import { createSessions, createSignIn, type SignInSettings } from './authentication/sign-in.js';
import { createEventsService } from './events/events.service.js';
import { createFilesService } from './files/files.service.js';
import type { DeclaredFields } from './host-field-types.js';
import { createHostFields } from './host-fields.js';
import { createIdentitiesService } from './identities/identities.service.js';
import { createIdentityLookups } from './identities/identity-lookups.js';
import { createServiceAccountsService } from './identities/service-accounts.service.js';
import { createKeyAccess } from './keys/key-access.js';
import { createKeysService } from './keys/keys.service.js';
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
import { createOwnerships } from './organizations/ownerships.js';
import { createExportsService } from './personal-data/exports.service.js';
import { createErasuresService } from './personal-data/erasures.service.js';
import { createRetention } from './personal-data/retention.js';
import { createProductLookups } from './products/product-lookups.js';
import type { OauthConfiguration } from './providers/oauth-configuration.js';
import { createStreamTickets } from './streams/stream-tickets.js';
import { createOauthStates } from './providers/oauth-states.js';
import { createProvidersService } from './providers/providers.service.js';
import type { WebhookSettings } from './webhooks/webhooks.service.js';

export interface FoundationOptions extends SignInSettings {
  mfaRequired: MfaRequired;
  /** Milliseconds after which a security event is removed. */
  auditRetention: number;
  /** The first signs `$nextToken`; all are accepted. */
  cursorSecrets: readonly Uint8Array[];
  search: SearchDriver | undefined;
  /** The fields that the host declares. */
  fields: DeclaredFields;
  files: FilesDriver | undefined;
  /** Maximum attached bytes per identity. */
  filesQuota: number;
  oauth: OauthConfiguration;
  /** Milliseconds after which an event is removed. */
  eventRetention: number;
  /** Whether events of messages show their texts. */
  eventMessageTexts: boolean;
  webhooks: WebhookSettings;
  /** Milliseconds from the request of an erasure to it, and whether texts of messages go. */
  erasure: { delay: number; blank: boolean };
  /** Milliseconds after which deleted records, and deleted orders, are removed for good; undefined for never. */
  retention: { records: number | undefined; orders: number | undefined };
}

/** Creates what services are built on: accounts, organizations, files, mails, lists. */
export function createFoundation(options: FoundationOptions) {
  const { storage, bus, log, typeIds, lifetimes, rateLimits } = options;
  const hostFields = createHostFields(options.fields, storage);
  const { cursorSecrets, search } = options;
  const lists = createLists({ storage, cursorSecrets, log, search, extension: hostFields });
  const events = createEventsService({ ...options, lists });
  const audit = createAuditService({ storage, log, lists, retention: options.auditRetention });
  const mails = createMailsService({ storage, log, settings: options.mail });
  const files = createFilesService({ storage, log, driver: options.files, quotaBytes: options.filesQuota });
  const lookups = createIdentityLookups(storage);
  const { existing: existingIdentities } = lookups;
  const sessionParts = createSessions({ ...options, lists, audit, lookups });
  const { sessions, shownSessions, onetimeTokens } = sessionParts;
  const keyAccess = createKeyAccess({ storage, bus, log, ...lookups });
  const joinings = createJoinings(storage);
  const logos = files.attachments({ purpose: 'organization-logo', max: 1 });
  const certificates = files.attachments({ purpose: 'organization-certificate' });
  const hasFactor = async (identityId: string) => (await lookups.accessStateOf(identityId))?.hasFactor === true;
  const organizations = createOrganizationsService({ storage, lists, people: lookups.people, hasFactor, logos });
  const organizationExists = async (organizationId: string) => (await organizations.nameOf(organizationId)) !== undefined;
  const changeRequests = createChangeRequestsService({ storage, lists, certificates });
  const standing = createStanding({
    storage,
    typeIds,
    accessStateOf: lookups.accessStateOf,
    emailsOf: lookups.emailsOf,
    organizations,
    withdrawTokens: onetimeTokens.withdraw,
  });
  const { review, reviewAfter } = standing;
  const identities = createIdentitiesService({
    storage,
    lists,
    lookups,
    bus,
    log,
    audit,
    mails,
    async removeSessions(identityId, state) {
      await Promise.all([sessions.removeEnded(identityId, state), keyAccess.removeEnded(identityId, state)]);
    },
    review,
    reviewAfter,
    leave: joinings.leave,
  });
  const signIn = createSignIn({
    ...options,
    ...sessionParts,
    audit,
    mails,
    identities,
    async isFactorRequired(identityId) {
      const { typeId = '' } = (await lookups.accessStateOf(identityId)) ?? {};
      return requiresFactor(options, typeId) || organizations.anyRequiresFactor(identityId);
    },
  });
  const { passwords, proofs, codes } = signIn;
  const keys = createKeysService({
    storage,
    bus,
    lists,
    audit,
    accessStateOf: lookups.accessStateOf,
    async proveFresh(caller, by) {
      await sessions.identityOf(caller.sessionId, caller.id);
      await proofs.proveFresh(caller, undefined, by);
    },
  });
  const streamTickets = createStreamTickets({ storage, sessions, keyAccess });
  const members = createMembersService({
    storage,
    lists,
    existingIdentities,
    staying: identities.staying,
    people: lookups.people,
    reviewAfter,
    withdrawInvitations: standing.withdrawFrom,
  });
  const serviceAccounts = createServiceAccountsService({
    storage,
    lists,
    audit,
    identities,
    organizations,
    joinings,
    typeId: typeIds.regular,
  });
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
  const ownerships = createOwnerships({
    storage,
    staying: identities.staying,
    people: lookups.people,
    accessStatesOf: lookups.accessStatesOf,
    typeIds,
    deleteOrganization: organizations.delete,
  });
  const { delay, blank } = options.erasure;
  const erasures = createErasuresService({ storage, log, identities, ownerships, audit, delay, blank });
  const retention = createRetention({ storage, log, identities, ...options.retention });
  const personalExports = createExportsService({ storage, log, identities, files: files.whole, mails, audit });
  erasures.alsoBy({
    records: [files.erase, personalExports.erase],
    copies: [
      audit.forgetStrangers,
      async ({ emails, unproved = [] }) => (await mails.forget([...emails, ...unproved]), 0),
      async ({ emails, unproved = [] }) => (await Promise.all([...emails, ...unproved].map(signIn.failedLogins.forget)), 0),
    ],
  });
  const prepareOther = createMailPreparation({ identities, onetimeTokens, codes, onetimeLifetime: lifetimes.onetime });
  mails.prepareWith((mail) => {
    if (mail.template === 'export-ready') return personalExports.prepare(mail);
    return mail.template === 'invitation' ? invitationMails.prepare(mail) : prepareOther(mail);
  });
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
    provePassword: proofs.proveIfSet,
    proveFresh: proofs.proveFresh,
    liveSession: shownSessions.findLive,
    hasPasskeys: signIn.factors.hasPasskeys,
    createLoginToken: (given) => onetimeTokens.create({ ...given, target: 'login', lifetimeMs: lifetimes.provider }),
  });
  return {
    storage,
    bus,
    log,
    lists,
    events,
    /** Adds the fields that the host declares. */
    hostFields,
    audit,
    mails,
    files,
    erasures,
    personalExports,
    retention,
    identities,
    /** Those of the given identities that exist, in any state. */
    existingIdentities,
    /** The names of those of the given identities that exist: null for people. */
    identityNames: lookups.namesOf,
    onetimeTokens,
    sessions,
    shownSessions,
    keyAccess,
    keys,
    streamTickets,
    failedLogins: signIn.failedLogins,
    passwords,
    authentication: signIn.authentication,
    mfa: signIn.mfa,
    factors: signIn.factors,
    proofs: signIn.allProofs,
    emails: signIn.emails,
    passwordChanges: signIn.passwordChanges,
    rateLimits,
    organizations,
    /** Whether a live organization has this id. */
    organizationExists,
    ...createProductLookups(storage),
    organizationFiles: { logos, certificates },
    changeRequests,
    members,
    serviceAccounts,
    invitations,
    acceptance,
    providers,
    webhookSettings: options.webhooks,
  };
}
export interface Foundation extends ReturnType<typeof createFoundation> {}
