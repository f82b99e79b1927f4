import { defineRule, type Rule } from '@tandem/core';
import { identityErrors } from './identities.errors.js';
import type { IdentitiesService } from './identities.service.js';

/**
 * The caller has proved the address of the account: else whoever registers another person's address could prepare a way in for the day on
 * which that person takes the account over, or send mails in their name (decisions H6).
 */
export function verifiedEmail({ isEmailVerified }: Pick<IdentitiesService, 'isEmailVerified'>): Rule {
  return defineRule('whose email is verified', [identityErrors.emailNotVerified], async ({ ctx }) => {
    if (!(await isEmailVerified(ctx.identity.id))) throw identityErrors.emailNotVerified();
  });
}
