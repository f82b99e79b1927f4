import type { EventBus, IdentityTypeIds, Log, Tokens } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { createAuditService } from './audit/audit.service.js';
import { createAuthenticationService } from './authentication/authentication.service.js';
import { createFailedLogins } from './authentication/failed-logins.js';
import { createPasswords } from './authentication/passwords.js';
import { createSessionsService } from './authentication/sessions.service.js';
import { createShownSessionsService } from './authentication/shown-sessions.service.js';
import { createIdentitiesService } from './identities/identities.service.js';
import { createMailsService, type MailSettings } from './mail/mails.service.js';
import { createMembersService } from './organizations/members.service.js';
import { createOrganizationsService } from './organizations/organizations.service.js';
import { createNotificationsService } from './notifications/notifications.service.js';

interface ServicesOptions {
  storage: Storage;
  bus: EventBus;
  tokens: Tokens;
  log: Log;
  typeIds: IdentityTypeIds;
  /** Lifetimes in milliseconds. */
  lifetimes: { access: number; refresh: number };
  /** Milliseconds after which a security event is removed. */
  auditRetention: number;
  bcryptCost: number;
  /** Of libuv's pool. */
  threadPoolSize: number;
  mail: MailSettings;
}

/** Makes the services and hands each what it needs of the others. */
export function createServices(options: ServicesOptions) {
  const { storage, bus, tokens, log, typeIds, lifetimes, bcryptCost, threadPoolSize } = options;
  const audit = createAuditService({ storage, log, retention: options.auditRetention });
  const mails = createMailsService({ storage, log, settings: options.mail });
  const identities = createIdentitiesService({
    storage,
    bus,
    audit,
    removeSessions: (identityId, before) => sessions.removeEnded(identityId, before),
  });
  const sessions = createSessionsService({
    storage,
    bus,
    tokens,
    log,
    audit,
    lifetimes,
    accessStateOf: identities.accessStateOf,
  });
  const shownSessions = createShownSessionsService({
    storage,
    accessStateOf: identities.accessStateOf,
    end: sessions.end,
    audit,
  });
  const failedLogins = createFailedLogins(storage);
  const passwords = createPasswords({ cost: bcryptCost, threads: threadPoolSize });
  const authentication = createAuthenticationService({ identities, sessions, passwords, failedLogins, tokens, typeIds, audit });
  const notifications = createNotificationsService({ storage, bus });
  const organizations = createOrganizationsService({ storage, existingIdentities: identities.existing });
  const members = createMembersService({ storage, existingIdentities: identities.existing });
  return {
    audit,
    identities,
    sessions,
    shownSessions,
    failedLogins,
    authentication,
    notifications,
    mails,
    organizations,
    members,
  };
}
export type Services = ReturnType<typeof createServices>;
