import { validationError, type AuthenticatedContext } from '@tandem/core';

/**
 * Returns the password that proves the caller's right to change the account. An admin acting on another account needs none, and
 * one that is given is ignored.
 * @throws validationError when it is missing
 */
export function requirePassword(ctx: AuthenticatedContext, identityId: string, password: string | undefined): string | undefined {
  if (ctx.identity.id !== identityId) return undefined;
  if (password === undefined) throw validationError(["request body must have required property 'password'"]);
  return password;
}
