import {
  ACCESS_COOKIE,
  REFRESH_COOKIE,
  admin,
  anyOf,
  authenticatedRoute,
  authenticationErrors,
  publicRoute,
  readBearer,
  router,
  self,
  type RequestContext,
} from '@tandem/core';
import { requestFactsOf } from '../../audit/request-facts.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { changeEmailInput, onetimeTokenInput, sendVerificationInput } from './emails.schemas.js';
import type { EmailsService } from './emails.service.js';
import { requirePassword } from '../passwords/required-password.js';
import { freshProof, type Proofs } from '../proofs.js';
import type { SessionsService } from '../sessions/sessions.service.js';
import { isCookieMode } from '../sign-in-answers.js';

const { unverified, wrongType, malformedHeader } = authenticationErrors;

interface EmailsRouterOptions {
  emails: EmailsService;
  sessions: Pick<SessionsService, 'namedBy'>;
  rateLimits: RateLimits;
  proofs: Pick<Proofs, 'requireFresh'>;
}

/** The email routes of the spec ("Authentication service"): verification and change. */
export function createEmailsRouter({ emails, sessions, rateLimits, proofs }: EmailsRouterOptions) {
  const limitMails = rateLimits.account('accountMails', ({ identityId }: { identityId: string }) => identityId);
  function confirming(ctx: RequestContext) {
    const fromCookie = (name: string) => (isCookieMode(ctx) ? ctx.cookies[name] : undefined);
    const given = { access: [readBearer(ctx), fromCookie(ACCESS_COOKIE)], refresh: [fromCookie(REFRESH_COOKIE)] };
    return (identityId: string) => sessions.namedBy(given, identityId);
  }
  return router({
    sendVerificationEmail: authenticatedRoute('POST /auth/{identityId}/send-verification-email', {
      status: 204,
      summary: 'Send a link that verifies the email address',
      failure: 'Failed to send verification email',
      mayBeEmpty: true,
      errors: [identityErrors.notFound],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(sendVerificationInput)
      .use(limitMails)
      .mutation(({ ctx, input }) => emails.sendVerification(input.identityId, requestFactsOf(ctx))),

    confirmEmail: publicRoute('POST /auth/confirm-email', {
      status: 204,
      summary: 'Verify the email address with the token of a link',
      failure: 'Failed to verify email',
      errors: [unverified, wrongType, malformedHeader, errors.alreadyVerified],
    })
      .input(onetimeTokenInput)
      .mutation(({ ctx, input }) => emails.confirm(input.token, confirming(ctx), requestFactsOf(ctx))),

    changeEmail: authenticatedRoute('PATCH /auth/{identityId}/change-email', {
      status: 204,
      summary: 'Send a link to a new email address, and a notice to the old one',
      failure: 'Failed to change email',
      errors: [identityErrors.notFound, identityErrors.emailTaken, errors.alreadyVerified, errors.invalidInput, errors.locked],
      // for oneself, the password in the body is the proof
      allow: [anyOf(admin, self('identityId')), anyOf(freshProof(proofs), self('identityId'))],
    })
      .use(rateLimits.address('passwordProof'))
      .input(changeEmailInput)
      .use(rateLimits.account('passwordProof', ({ identityId }: { identityId: string }) => identityId))
      .use(limitMails)
      .mutation(({ ctx, input: { identityId, email, password } }) =>
        emails.requestChange({ identityId, email, password: requirePassword(ctx, identityId, password) }, requestFactsOf(ctx)),
      ),

    confirmNewEmail: publicRoute('POST /auth/confirm-new-email', {
      status: 204,
      summary: 'Change the email address with the token of a link',
      failure: 'Failed to update identity',
      errors: [unverified, wrongType, malformedHeader, identityErrors.emailTaken],
    })
      .input(onetimeTokenInput)
      .mutation(({ ctx, input }) => emails.confirmChange(input.token, confirming(ctx), requestFactsOf(ctx))),
  });
}
