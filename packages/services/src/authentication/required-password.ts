import { validationError, type AuthenticatedContext } from '@tandem/core';

/**
 * The password that proves who changes an account; none is asked of an admin who acts on another's, and one given is not looked at.
 * @throws validationError when it is missing
 */
export function requirePassword(ctx: AuthenticatedContext, identityId: string, password: string | undefined): string | undefined {
  if (ctx.identity.id !== identityId) return undefined;
  if (password === undefined) throw validationError(["request body must have required property 'password'"]);
  return password;
}
