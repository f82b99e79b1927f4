import { authenticationErrors, validationError } from '@tandem/core';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { IdentitiesService } from '../../identities/identities.service.js';
import type { Credentials } from '../../identities/identity-lookups.js';
import type { MailsService } from '../../mail/mails.service.js';
import type { OnetimeTokensService } from '../../onetime-tokens/onetime-tokens.service.js';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import type { FailedLogins } from '../failed-logins/failed-logins.js';
import type { OnetimeProofs } from '../onetime-proofs.js';
import type { PasswordProofs } from './password-proofs.js';
import type { ChosenPassword, Passwords } from './passwords.js';

export type PasswordChangesService = ReturnType<typeof createPasswordChangesService>;

interface PasswordChangesOptions {
  identities: IdentitiesService;
  onetimeTokens: OnetimeTokensService;
  onetimeProofs: OnetimeProofs;
  passwords: Passwords;
  proofs: PasswordProofs;
  failedLogins: FailedLogins;
  mails: Pick<MailsService, 'enqueue'>;
  audit: AuditService;
  rateLimits: Pick<RateLimits, 'countAccount'>;
}

/**
 * Reset and change of passwords (decisions A13). One write to the identity sets the hash, ends its sessions, voids its one-time
 * tokens and queues the mail, so that no crash leaves it half done.
 */
export function createPasswordChangesService(options: PasswordChangesOptions) {
  const { identities, onetimeTokens, onetimeProofs, passwords, proofs, failedLogins, mails, audit, rateLimits } = options;

  /** Hashes a new password, given without the old one. @throws errors.invalidInput if it equals the current password */
  async function hashOther({ email, passwordHash }: Credentials, password: ChosenPassword, by: RequestFacts): Promise<string> {
    const client = { ...by, account: email };
    if (await passwords.matches(password, passwordHash, client)) throw errors.invalidInput();
    return passwords.hash(password, client);
  }

  /** @returns false when a concurrent change came first */
  function set({ id, email, onetimeEpoch: epoch }: Credentials, passwordHash: string, provesEmail: boolean): Promise<boolean> {
    return identities.setPassword(id, passwordHash, { epoch, provesEmail, mail: { template: 'password-changed', to: email } });
  }

  return {
    /**
     * Queues a mail with a reset link, unless one was sent within the last minute. Does the same for every address; whether
     * anybody has it is checked when the mail is sent.
     */
    async sendResetLink(email: string, by: RequestFacts): Promise<void> {
      await mails.enqueue([{ template: 'reset-password', to: email }], `reset-password ${email}`);
      void audit.record('password.reset-requested', by, { identityId: null });
    },

    /**
     * Sets a password with a link's token, and ends the lock after failed logins. The link proves the address: if it was
     * unverified, all providers are removed.
     * @throws authenticationErrors.unverified, wrongType; errors.invalidInput for the current password; validationError for a
     * common one
     */
    async reset(token: string, password: string, by: RequestFacts): Promise<void> {
      const { onetimeToken, credentials } = await onetimeProofs.read(token, 'reset-password');
      await rateLimits.countAccount('resetPassword', credentials.id, by.ip);
      const chosen = await passwords.choose(password, { email: credentials.email, field: 'password' });
      const passwordHash = await hashOther(credentials, chosen, by);
      // before the write that voids the link: after a crash in between, a new password must not meet the old lock
      await failedLogins.forget(credentials.email);
      if (!(await set(credentials, passwordHash, true))) throw authenticationErrors.unverified();
      const about = { identityId: credentials.id };
      await audit.record('password.reset', by, about);
      if (!credentials.emailVerified) await audit.record('email.verified', by, about);
      await onetimeTokens.markUsed(onetimeToken.id);
    },

    /**
     * Sets a password for a signed-in identity.
     * @param password the old one; undefined when an admin acts on another
     * @throws identityErrors.notFound; errors.invalidInput for a wrong password, or for the current one when an admin sets it;
     * validationError for the old one or a common one; errors.locked
     */
    async change(
      { identityId, password, newPassword }: { identityId: string; password: string | undefined; newPassword: string },
      by: RequestFacts,
    ): Promise<void> {
      const credentials = await identities.credentialsOf({ id: identityId });
      if (!credentials) throw identityErrors.notFound();
      if (password === newPassword) throw validationError(['request body/newPassword must NOT be the old password']);
      const chosen = await passwords.choose(newPassword, { email: credentials.email, field: 'newPassword' });
      if (password !== undefined) await proofs.prove(credentials, password, by);
      // the old password was just proved, and the new one differs from it, so no comparison is needed
      const passwordHash = await (password === undefined
        ? hashOther(credentials, chosen, by)
        : passwords.hash(chosen, { ...by, account: credentials.email }));
      // a concurrent change has replaced the proved password
      if (!(await set(credentials, passwordHash, false))) throw errors.invalidInput();
      await audit.record('password.changed', by, { identityId });
    },
  };
}
