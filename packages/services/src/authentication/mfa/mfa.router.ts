import { authenticationErrors, publicRoute, readFingerprint, router } from '@tandem/core';
import { z } from 'zod';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { SessionSchema, TokenText } from '../authentication.schemas.js';
import { onetimeTokenInput } from '../emails/emails.schemas.js';
import type { MfaService } from './mfa.service.js';
import type { SignInAnswers } from '../sign-in-answers.js';

const { unverified, wrongType, fingerprintMismatch, malformedFingerprint } = authenticationErrors;

const verifyInput = z.strictObject({
  token: TokenText,
  code: z.string().min(1).max(20).describe('The code of the mail or the authenticator app, or a recovery code.'),
});
const ResentSchema = z.object({ token: z.string() });

/** The MFA routes of the spec ("Authentication service"), with codes sent by mail (decisions A10). */
export function createMfaRouter({ mfa, rateLimits }: { mfa: MfaService; rateLimits: RateLimits }, answers: SignInAnswers) {
  return router({
    mfaVerify: publicRoute('POST /auth/mfa/verify', {
      summary: 'Finish a sign-in with its MFA code',
      failure: 'Failed to verify MFA code',
      errors: [errors.wrongCode, errors.locked, unverified, wrongType, fingerprintMismatch, malformedFingerprint],
    })
      .use(rateLimits.address('mfaVerify'))
      .input(verifyInput)
      .output(SessionSchema)
      .mutation(({ ctx, input: { token, code } }) =>
        answers.signIn(ctx, readFingerprint(ctx), (device) => mfa.verify(token, { code }, device)),
      ),

    mfaResend: publicRoute('POST /auth/mfa/resend', {
      summary: 'Send another MFA code',
      failure: 'Failed to send MFA code',
      errors: [errors.noMailedCode, errors.locked, unverified, wrongType],
    })
      .use(rateLimits.address('mfaResend'))
      .input(onetimeTokenInput)
      .output(ResentSchema)
      .mutation(async ({ ctx, input }) => ({ token: await mfa.resend(input.token, ctx.ip) })),
  });
}
