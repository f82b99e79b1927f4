import type { EventBus, IdentityTypeIds, Log, Tokens } from '@tandem/core';
import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import { identityErrors } from '../identities/identities.errors.js';
import type { IdentitiesService } from '../identities/identities.service.js';
import type { IdentityLookups } from '../identities/identity-lookups.js';
import type { MailsService } from '../mail/mails.service.js';
import { senderName } from '../mail/outgoing-mail.js';
import type { MailSettings } from '../mail/queued-mail.js';
import { createOnetimeTokensService } from '../onetime-tokens/onetime-tokens.service.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { createAuthenticationService } from './authentication.service.js';
import { createEmailsService } from './emails/emails.service.js';
import { createFactorsService } from './factors/factors.service.js';
import { createPasskeys } from './factors/passkeys.js';
import type { RelyingParty } from './factors/relying-party.js';
import { createSealedSecrets } from './factors/sealed-secrets.js';
import { createFailedLogins } from './failed-logins/failed-logins.js';
import { createKnownPlaces } from './failed-logins/known-places.js';
import type { Lifetimes } from './lifetimes.js';
import { createMfaCodes } from './mfa/mfa-codes.js';
import { createMfaService } from './mfa/mfa.service.js';
import { createOnetimeProofs } from './onetime-proofs.js';
import { createPasswordChangesService } from './passwords/password-changes.service.js';
import { createPasswordProofs } from './passwords/password-proofs.js';
import { createPasswords, type PasswordCheck, type PasswordVerifier } from './passwords/passwords.js';
import { createProofs } from './proofs.js';
import { createSessionsService } from './sessions/sessions.service.js';
import { createShownSessionsService } from './sessions/shown-sessions.service.js';

/** The settings of sign-in. */
export interface SignInSettings {
  storage: Storage;
  bus: EventBus;
  tokens: Tokens;
  log: Log;
  typeIds: IdentityTypeIds;
  /** Lifetimes in milliseconds. */
  lifetimes: Lifetimes;
  /** The first creates MFA codes and challenges of passkeys; all verify them. */
  codeSecrets: readonly string[];
  /** The first seals secrets of factors; all open them. */
  encSecrets: readonly string[];
  /** Undefined where passkeys are off. */
  relyingParty: RelyingParty | undefined;
  mfaEnabled: boolean;
  verifyImportedPassword: PasswordVerifier | undefined;
  checkPassword: PasswordCheck | undefined;
  bcryptCost: number;
  mail: MailSettings;
  rateLimits: RateLimits;
}

interface SessionsOptions extends SignInSettings {
  lists: Lists;
  audit: AuditService;
  lookups: IdentityLookups;
}

/** Creates sessions and one-time tokens, on which changes of identities depend. */
export function createSessions(options: SessionsOptions) {
  const { storage, bus, tokens, log, lifetimes, rateLimits, lists, audit } = options;
  const { accessStateOf, accessStatesOf, onetimeEpochOf: epochOf } = options.lookups;
  const onetimeTokens = createOnetimeTokensService({ storage, tokens, defaultLifetime: lifetimes.onetime, epochOf });
  const knownPlaces = createKnownPlaces(storage, options.codeSecrets[0] ?? '');
  const sessions = createSessionsService({
    storage,
    bus,
    tokens,
    log,
    audit,
    lifetimes,
    accessStateOf,
    accessStatesOf,
    countRefresh: (sessionId) => rateLimits.countAccount('refresh', sessionId),
    rememberingPlace: knownPlaces.remembering,
  });
  const shownSessions = createShownSessionsService({ storage, lists, lifetimes, accessStateOf, end: sessions.end, audit });
  return { onetimeTokens, sessions, shownSessions, knownPlaces };
}

interface SignInOptions extends SignInSettings, ReturnType<typeof createSessions> {
  audit: AuditService;
  mails: MailsService;
  identities: IdentitiesService;
  /** Whether an identity must keep a factor (decisions F5). */
  isFactorRequired(identityId: string): Promise<boolean>;
}

/** Creates the services for sign-in and proofs of identity. */
export function createSignIn(options: SignInOptions) {
  const { storage, tokens, log, typeIds, rateLimits, audit, mails, identities } = options;
  const { onetimeTokens, sessions } = options;
  const failedLogins = createFailedLogins(storage, options.knownPlaces);
  const passwords = createPasswords({
    cost: options.bcryptCost,
    verifyImported: options.verifyImportedPassword,
    check: options.checkPassword,
    productName: senderName(options.mail),
  });
  const credentialsOf = async (identityId: string) => {
    const credentials = await identities.credentialsOf({ id: identityId });
    if (!credentials) throw identityErrors.notFound();
    return credentials;
  };
  const { provedAt } = sessions;
  const proofs = createPasswordProofs({ failedLogins, passwords, audit, clock: storage.clock, credentialsOf, provedAt });
  const factors = createFactorsService({
    storage,
    factors: identities.factors,
    sessions,
    passkeys: createPasskeys({ storage, relyingParty: options.relyingParty, secrets: options.codeSecrets }),
    secrets: createSealedSecrets(options.encSecrets),
    audit,
    log,
    issuer: senderName(options.mail),
    isRequired: options.isFactorRequired,
  });
  const allProofs = createProofs({ passwords: proofs, factors, failedLogins, sessions, audit, credentialsOf });
  const onetimeProofs = createOnetimeProofs({ onetimeTokens, identities });
  const codes = createMfaCodes(options.codeSecrets);
  const mfa = createMfaService({
    sessions,
    onetimeTokens,
    onetimeProofs,
    failedLogins,
    mails,
    codes,
    factors,
    audit,
    rateLimits,
    clock: storage.clock,
  });
  const authentication = createAuthenticationService({
    identities,
    sessions,
    passwords,
    failedLogins,
    tokens,
    onetimeTokens,
    onetimeProofs,
    mfa,
    mfaEnabled: options.mfaEnabled,
    factors,
    typeIds,
    audit,
    rateLimits,
    log,
  });
  const emails = createEmailsService({ identities, onetimeTokens, onetimeProofs, proofs, mails, audit, credentialsOf });
  const passwordChanges = createPasswordChangesService({
    identities,
    onetimeTokens,
    onetimeProofs,
    passwords,
    proofs,
    failedLogins,
    mails,
    audit,
    rateLimits,
  });
  return {
    failedLogins,
    passwords,
    proofs,
    codes,
    mfa,
    factors,
    allProofs,
    authentication,
    emails,
    passwordChanges,
  };
}
