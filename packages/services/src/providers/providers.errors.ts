import { defineErrors } from '@tandem/core';

/** Errors answered directly, without a redirect to the return address. */
export const providerErrors = defineErrors('providers', { notFound: [404, 'Provider not found'] });

/** Values of `error=` at a return address, for front ends to explain. The provider's own text is never passed on. */
export const REDIRECT_ERRORS = {
  access_denied: 'the person refused at the provider',
  provider_error: 'the provider failed, or its answer cannot be trusted',
  email_missing: 'sign-up: the provider gives no email address',
  email_not_verified:
    'sign-up: the provider does not vouch for the email address; linking: the address of the identity is not verified',
  identity_not_found: 'login: no identity signs in by this account',
  account_locked: 'the identity is locked or deactivated',
  signed_out: 'linking: the session that began it has ended',
} as const;
export type RedirectError = keyof typeof REDIRECT_ERRORS;
