import type { Identity, RequestContext, VerifiedAccess } from '@tandem/core';

/** The origin of a request, for the audit trail. */
export interface RequestFacts {
  ip: string;
  userAgent: string;
  requestId?: string;
  /** The identity of the request's access token. */
  actorId?: string;
  /** The session of that access token; of a caller with an API key, the id of the key. */
  sessionId?: string;
  /** The fingerprint that the access token is bound to, as a hash. */
  fingerprintHash?: string | undefined;
  /** `signal` aborts when the request is over, so that work for it can be dropped. */
  waiting?: { readonly signal: AbortSignal };
}

/** For actions without a request: commands, start-up, host code. */
export const NO_REQUEST: RequestFacts = { ip: '', userAgent: '' };

/** The facts of a request. Only procedures behind `authenticated` know the actor. */
export function requestFactsOf(
  ctx: RequestContext & { identity?: Identity; access?: VerifiedAccess } & Pick<RequestFacts, 'waiting'>,
): RequestFacts {
  const { ip, userAgent, requestId, identity, access, waiting } = ctx;
  return {
    ip,
    userAgent,
    requestId,
    ...(waiting && { waiting }),
    ...(access?.fingerprintHash !== undefined && { fingerprintHash: access.fingerprintHash }),
    ...(identity && { actorId: identity.id, sessionId: identity.sessionId }),
  };
}
