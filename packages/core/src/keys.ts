import type { Identity } from './context.js';
import { defineErrors } from './errors.js';
import { serviceOf } from './operation.js';

/** Failures of API keys (decisions E4). A key that is not live is a failure of authentication. */
export const keyErrors = defineErrors('keys', { notAllowed: [403, 'API key does not allow this'] });

/** What API keys begin with, so that people and scanners of source code recognize them. Access tokens never do. */
export const KEY_PREFIX = 'tdm_';

/** Whether a bearer token is an API key, right or wrong. */
export const isKey = (bearer: string): boolean => bearer.startsWith(KEY_PREFIX);

/** A procedure, as scopes name it. */
export interface ScopedProcedure {
  /** Its tRPC path. */
  name: string;
  /** It changes nothing: a query or a subscription. */
  isRead: boolean;
  /** The subscription that it opens. */
  opens?: string | undefined;
}

const READ = ':read';

/**
 * Whether a scope names a procedure: by its name, `products.*`, or `*`; followed by `:read`, only if it is a read
 * (decisions E4). What opens a subscription is named with it.
 */
export function isNamedBy(scope: string, { name, isRead, opens }: ScopedProcedure): boolean {
  if (opens !== undefined && isNamedBy(scope, { name: opens, isRead: true })) return true;
  const isOfReads = scope.endsWith(READ);
  if (isOfReads && !isRead) return false;
  const names = isOfReads ? scope.slice(0, -READ.length) : scope;
  return names === '*' || names === name || (names.endsWith('.*') && name.startsWith(names.slice(0, -1)));
}

/**
 * Whether a caller may ask for a procedure: with a key, only for those that its scopes name. Rules follow.
 * @param keyless services that no key reaches
 */
export function mayAsk({ key }: Identity, procedure: ScopedProcedure, keyless?: ReadonlySet<string>): boolean {
  if (!key) return true;
  const isKeyless = keyless?.has(serviceOf(procedure.name)) ?? false;
  return !isKeyless && key.scopes.some((scope) => isNamedBy(scope, procedure));
}

/** @throws keyErrors.notAllowed unless the caller may ask for the procedure: see `mayAsk` */
export function checkScopes(...asked: Parameters<typeof mayAsk>): void {
  if (!mayAsk(...asked)) throw keyErrors.notAllowed();
}
