import type { Identity, RequestContext } from '@tandem/core';

/** Who asked for something, and from where, as far as the audit trail wants to know. */
export interface RequestFacts {
  ip: string;
  userAgent: string;
  requestId?: string;
  /** Whose access token the request had. */
  actorId?: string;
  /** Of that access token. */
  sessionId?: string;
}

/** Of what no request asked for: commands, start-up, a host application's own code. */
export const NO_REQUEST: RequestFacts = { ip: '', userAgent: '' };

/** The facts of a request; the actor is known behind `authenticated` only. */
export function requestFactsOf(ctx: RequestContext & { identity?: Identity }): RequestFacts {
  const { ip, userAgent, requestId, identity } = ctx;
  return { ip, userAgent, requestId, ...(identity && { actorId: identity.id, sessionId: identity.sessionId }) };
}
