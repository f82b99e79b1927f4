import {
  authenticate,
  authenticationErrors,
  checkOrigin,
  validationError,
  type Handshake,
  type VerifiedAccess,
} from '@tandem/core';
import type { StreamName } from './stream-ticket.model.js';
import type { StreamTickets } from './stream-tickets.js';

/** The service of each stream, whose auth mode applies. */
const SERVICES: Record<StreamName, string> = { messages: 'chat', notifications: 'notifications' };

/**
 * Authenticates the caller of a stream: by a ticket, else in the mode of the service. Cookie mode requires an allowed origin,
 * because browsers send cookies with the handshake of any page (decisions S1).
 * @throws authenticationErrors, originErrors
 */
export async function authenticateStream(
  stream: StreamName,
  { ctx, query }: Handshake,
  redeem: StreamTickets['redeem'],
): Promise<VerifiedAccess> {
  const [ticket, second] = query.getAll('ticket');
  if (second !== undefined) throw authenticationErrors.unverified();
  if (ticket !== undefined) return redeem(stream, ticket);
  const mode = ctx.server.authModeOf(SERVICES[stream]);
  const access = await authenticate(ctx, mode);
  if (mode === 'cookie') checkOrigin(ctx);
  return access;
}

/** @throws a validation error for unknown query parameters */
export function refuseUnknown(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...new Set(query.keys())].filter((key) => key !== 'ticket' && !known.includes(key));
  if (unknown.length > 0) throw validationError(unknown.map((key) => `query parameter '${key.slice(0, 100)}' is not allowed`));
}
