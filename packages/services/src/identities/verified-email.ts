import { defineRule, type Rule } from '@tandem/core';
import { identityErrors } from './identities.errors.js';
import type { IdentitiesService } from './identities.service.js';

/**
 * Requires a verified email. Otherwise a caller who registers another person's address could link a provider that still works
 * after that person takes over the account, or send mails in that person's name (decisions H6).
 */
export function verifiedEmail({ isEmailVerified }: Pick<IdentitiesService, 'isEmailVerified'>): Rule {
  return defineRule('a caller with a verified email', [identityErrors.emailNotVerified], async ({ ctx }) => {
    if (!(await isEmailVerified(ctx.identity.id))) throw identityErrors.emailNotVerified();
  });
}
