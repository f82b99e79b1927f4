import { authenticationErrors, defineErrors, type ApiError, type TokenError } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of authentication itself. */
export const authenticationServiceErrors = defineErrors('auth', {
  alreadyRegistered: [422, 'unable to register "{email}"'],
  wrongCredentials: [401, 'wrong credentials provided'],
  locked: [401, 'This account is locked'],
  noRefreshToken: [422, 'Unable to find refresh token'],
  unusable: [422, 'Token was not found'],
  reused: [401, 'refresh token reuse detected'],
  alreadyVerified: [409, 'Email already verified or no changes made'],
  invalidInput: [400, 'Invalid input'],
  freshProofNeeded: [403, 'A fresh proof is needed'],
  wrongCode: [400, 'Invalid MFA code provided.'],
  noMailedCode: [400, 'No code is mailed to an identity with a factor'],
  factorNotFound: [404, 'Factor not found'],
  tooManyFactors: [409, 'Too many factors'],
  noFactor: [409, 'Identity has no factor'],
  lastFactor: [409, 'A second factor is required'],
  passkeyRefused: [401, 'Passkey could not be verified'],
  passkeysOff: [409, 'Passkeys are not available'],
});

/** The error that a caller sees for a refused token (decisions A2). */
export function tokenRefusal(error: TokenError): ApiError {
  const { wrongType, unverified } = authenticationErrors;
  return (error.reason === 'wrong-type' ? wrongType : unverified)({ cause: error });
}
