import type { Identity, ServerFacts } from './context.js';
import { defineErrors } from './errors.js';

/** Whom a server requires to have a second factor (decisions F5). */
export const MFA_REQUIRED = ['none', 'admins', 'all'] as const;
export type MfaRequired = (typeof MFA_REQUIRED)[number];

/** Failures of callers who have to enrol a factor first. */
export const factorErrors = defineErrors('factors', { required: [403, 'A second factor is required'] });

/** Whether a server requires identities of this type to have a second factor. */
export function requiresFactor(
  { mfaRequired = 'none', typeIds }: Pick<ServerFacts, 'mfaRequired' | 'typeIds'>,
  typeId: string,
): boolean {
  return mfaRequired === 'all' || (mfaRequired === 'admins' && typeId === typeIds.admin);
}

/** Whether a caller lacks a second factor that the server requires. */
export function lacksFactor(server: ServerFacts, { typeId, hasFactor }: Identity): boolean {
  return !hasFactor && requiresFactor(server, typeId);
}

/** @throws factorErrors.required when the caller lacks a second factor that the server requires */
export function checkFactor(server: ServerFacts, identity: Identity): void {
  if (lacksFactor(server, identity)) throw factorErrors.required();
}
