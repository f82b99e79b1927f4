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
  /** Its signal aborts when the request is over: what waits for it need not be done. */
  waiting?: { readonly signal: AbortSignal };
}

/** Of what no request asked for: commands, start-up, a host application's own code. */
export const NO_REQUEST: RequestFacts = { ip: '', userAgent: '' };

/** The facts of a request; the actor is known behind `authenticated` only. */
export function requestFactsOf(ctx: RequestContext & { identity?: Identity } & Pick<RequestFacts, 'waiting'>): RequestFacts {
  const { ip, userAgent, requestId, identity, waiting } = ctx;
  return {
    ip,
    userAgent,
    requestId,
    ...(waiting && { waiting }),
    ...(identity && { actorId: identity.id, sessionId: identity.sessionId }),
  };
}
