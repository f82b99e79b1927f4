import { authenticationErrors } from '@tandem/core';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { SessionRef } from '../../identities/identity-changes.js';
import type { IdentitiesService } from '../../identities/identities.service.js';
import type { Credentials } from '../../identities/identity-lookups.js';
import type { MailsService } from '../../mail/mails.service.js';
import type { OnetimeTokensService } from '../../onetime-tokens/onetime-tokens.service.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import type { OnetimeProofs } from '../onetime-proofs.js';
import type { PasswordProofs } from '../passwords/password-proofs.js';

export type EmailsService = ReturnType<typeof createEmailsService>;

interface EmailsOptions {
  identities: IdentitiesService;
  onetimeTokens: OnetimeTokensService;
  onetimeProofs: OnetimeProofs;
  proofs: PasswordProofs;
  mails: Pick<MailsService, 'enqueue'>;
  audit: AuditService;
  /** @throws identityErrors.notFound */
  credentialsOf(identityId: string): Promise<Credentials>;
}

/** Finds the live session of an identity that a request shows. */
type Confirming = (identityId: string) => Promise<SessionRef | undefined>;

/**
 * Verification and change of email addresses (decisions A13, A14). The mail queue creates the tokens of links, so that a request
 * needs only one write per mail.
 */
export function createEmailsService(options: EmailsOptions) {
  const { identities, onetimeTokens, onetimeProofs, proofs, mails, audit, credentialsOf } = options;

  return {
    /**
     * Sends a link that verifies the identity's address, unless one was sent within the last minute. @throws
     * identityErrors.notFound
     */
    async sendVerification(identityId: string, by: RequestFacts): Promise<void> {
      const { email, onetimeEpoch } = await credentialsOf(identityId);
      const mail = { template: 'confirm-email', identityId, values: { epoch: onetimeEpoch } } as const;
      await mails.enqueue([mail], `confirm-email ${identityId} ${email} ${onetimeEpoch}`);
      await audit.record('email.verification-sent', by, { identityId });
    },

    /**
     * Verifies the address that a link was sent to, if the identity still has it, and removes providers linked before.
     * @param confirming finds the identity's session that confirms
     * @throws authenticationErrors.unverified, wrongType; errors.alreadyVerified
     */
    async confirm(token: string, confirming: Confirming, by: RequestFacts): Promise<void> {
      const { id, subject, email } = await onetimeTokens.read(token, 'confirm-email');
      if (!(await identities.verifyEmail(subject, email ?? '', { by: await confirming(subject) }))) {
        const credentials = await identities.credentialsOf({ id: subject });
        throw credentials?.email === email ? errors.alreadyVerified() : authenticationErrors.unverified();
      }
      await audit.record('email.verified', by, { identityId: subject });
      await onetimeTokens.markUsed(id);
    },

    /**
     * Sends a link to the new address and a notice to the old one.
     * @param password of the identity; undefined when an admin acts on another
     * @throws identityErrors.notFound, emailTaken; errors.alreadyVerified for the current address; errors.invalidInput for a
     * wrong password; errors.locked
     */
    async requestChange(
      { identityId, email, password }: { identityId: string; email: string; password: string | undefined },
      by: RequestFacts,
    ): Promise<void> {
      const credentials = await credentialsOf(identityId);
      if (password !== undefined) await proofs.prove(credentials, password, by);
      if (credentials.email === email) throw errors.alreadyVerified();
      if (await identities.isEmailTaken(email)) throw identityErrors.emailTaken();
      const epoch = credentials.onetimeEpoch;
      await mails.enqueue(
        [
          { template: 'email-change-notice', to: credentials.email, values: { newEmail: email } },
          { template: 'confirm-new-email', identityId, to: email, values: { epoch } },
        ],
        `confirm-new-email ${identityId} ${email} ${epoch}`,
      );
      await audit.record('email.change-requested', by, { identityId });
    },

    /**
     * Changes the address to the one that the link was sent to. This voids all one-time tokens, including this one, removes every
     * provider and the passkeys, and ends the sessions.
     * @param confirming finds the identity's session that confirms; it is kept, and so are the passkeys
     * @throws authenticationErrors.unverified, wrongType; identityErrors.emailTaken
     */
    async confirmChange(token: string, confirming: Confirming, by: RequestFacts): Promise<void> {
      const { onetimeToken, credentials } = await onetimeProofs.read(token, 'change-email');
      const { id, subject, email } = onetimeToken;
      if (email === null) throw authenticationErrors.unverified();
      const { onetimeEpoch: epoch } = credentials;
      const mail = { template: 'email-changed', to: credentials.email, values: { newEmail: email } } as const;
      const but = await confirming(subject);
      if (!(await identities.changeEmail(subject, email, { epoch, mail, but }))) throw authenticationErrors.unverified();
      await audit.record('email.changed', by, { identityId: subject });
      await onetimeTokens.markUsed(id);
    },
  };
}
