import {
  authenticate,
  authenticationErrors,
  checkFactor,
  checkOrigin,
  checkScopes,
  serviceOf,
  validationError,
  type Handshake,
  type VerifiedAccess,
} from '@tandem/core';
import { SUBSCRIPTIONS, type StreamName } from './stream-ticket.model.js';
import type { StreamTickets } from './stream-tickets.js';

/**
 * Authenticates the caller of a stream: by a ticket, else in the mode of the service. Cookie mode requires an allowed origin,
 * because browsers send cookies with the handshake of any page (decisions S1). A key needs a scope that names the subscription
 * with the same events.
 * @throws authenticationErrors, originErrors, keyErrors, factorErrors
 */
export async function authenticateStream(
  stream: StreamName,
  { ctx, query }: Handshake,
  redeem: StreamTickets['redeem'],
): Promise<VerifiedAccess> {
  const { server, ip } = ctx;
  const name = SUBSCRIPTIONS[stream];
  const [ticket, second] = query.getAll('ticket');
  if (second !== undefined) throw authenticationErrors.unverified();
  const mode = server.authModeOf(serviceOf(name));
  const access = await (ticket === undefined ? authenticate(ctx, mode) : redeem(stream, ticket, ip));
  if (access.identity.key) checkScopes(access.identity, { name, isRead: true });
  else if (ticket === undefined && mode === 'cookie') checkOrigin(ctx);
  checkFactor(server, access.identity);
  return access;
}

/** @throws a validation error for unknown query parameters */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...new Set(query.keys())].filter((key) => key !== 'ticket' && !known.includes(key));
  if (unknown.length > 0) throw validationError(unknown.map((key) => `query parameter '${key.slice(0, 100)}' is not allowed`));
}
