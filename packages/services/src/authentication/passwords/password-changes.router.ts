import { admin, anyOf, authenticatedRoute, authenticationErrors, publicRoute, readBearer, router, self } from '@tandem/core';
import { z } from 'zod';
import { requestFactsOf } from '../../audit/request-facts.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { Email, Id } from '../../shared/schemas.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { GivenPassword, TokenText } from '../authentication.schemas.js';
import type { PasswordChangesService } from './password-changes.service.js';
import { NewPassword } from './passwords.js';
import { requirePassword } from './required-password.js';

const { unverified, wrongType, missingHeader, malformedHeader } = authenticationErrors;

const sendResetLinkInput = z.strictObject({ email: Email });
const resetInput = z
  .strictObject({ token: TokenText.optional(), password: NewPassword })
  // examples have the required properties otherwise, and few callers have the token in the header
  .meta({ examples: [{ token: 'eyJhbGciOiJkaXIi', password: 'tea at the harbour' }] });
const changeInput = z.strictObject({ identityId: Id, password: GivenPassword.optional(), newPassword: NewPassword });

interface PasswordChangesRouterOptions {
  passwordChanges: PasswordChangesService;
  rateLimits: RateLimits;
}

/** The password routes of the spec ("Authentication service"): reset and change. */
export function createPasswordChangesRouter({ passwordChanges, rateLimits }: PasswordChangesRouterOptions) {
  return router({
    sendResetPasswordLinkEmail: publicRoute('POST /auth/send-reset-password-link-email', {
      status: 204,
      summary: 'Send a link to reset the password',
      failure: 'Failed to send reset password link',
    })
      .use(rateLimits.address('resetLink'))
      .input(sendResetLinkInput)
      .use(rateLimits.account('resetLink', ({ email }: { email: string }) => email))
      .mutation(({ ctx, input }) => passwordChanges.sendResetLink(input.email, requestFactsOf(ctx))),

    resetPassword: publicRoute('POST /auth/reset-password', {
      status: 204,
      summary: "Set a new password with a link's token, in the body or as bearer header",
      failure: 'Failed to reset password',
      errors: [unverified, wrongType, missingHeader, malformedHeader, errors.invalidInput],
    })
      .use(rateLimits.address('resetPassword'))
      .input(resetInput)
      .mutation(async ({ ctx, input: { password, token = readBearer(ctx) } }) => {
        if (token === undefined) throw missingHeader();
        await passwordChanges.reset(token, password, requestFactsOf(ctx));
      }),

    changePassword: authenticatedRoute('PATCH /auth/{identityId}/change-password', {
      status: 204,
      summary: 'Set a new password and end all sessions',
      failure: 'Failed to change password',
      errors: [identityErrors.notFound, errors.invalidInput, errors.locked],
      allow: [anyOf(admin, self('identityId'))],
    })
      .use(rateLimits.address('passwordProof'))
      .input(changeInput)
      .use(rateLimits.account('passwordProof', ({ identityId }: { identityId: string }) => identityId))
      .mutation(({ ctx, input: { identityId, password, newPassword } }) =>
        passwordChanges.change(
          { identityId, password: requirePassword(ctx, identityId, password), newPassword },
          requestFactsOf(ctx),
        ),
      ),
  });
}
