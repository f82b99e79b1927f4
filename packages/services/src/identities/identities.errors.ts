import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. */
export const identityErrors = defineErrors('identities', {
  notFound: [404, 'Identity not found'],
  nothingToUpdate: [400, 'Failed to update identity'],
  emailTaken: [409, 'Email already in use'],
  providerTaken: [409, 'Provider account already linked'],
  notLinked: [404, 'Provider account not linked'],
  emailNotVerified: [403, 'Email is not verified'],
  serviceAccount: [409, 'Identity is a service account'],
  notErased: [404, 'Erasure not found'],
  erasing: [409, 'Identity is about to be erased'],
  onlyWayIn: [409, 'Provider account is the only way to sign in'],
});
