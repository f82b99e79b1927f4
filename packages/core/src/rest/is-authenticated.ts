import type { Request, RequestHandler } from 'express';
import { authenticate, checkOrigin } from '../authentication.js';
import { createRequestContext, type Identity, type ServerFacts } from '../context.js';
import { checkFactor } from '../factors.js';
import { checkScopes } from '../keys.js';

/** A request that `isAuthenticated` accepted. */
export interface AuthenticatedRequest extends Request {
  identity: Identity;
}

/** Methods that by definition change nothing, so a cross-origin request does no harm. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The procedures' authentication for an Express route of a host application (spec, "Versioning": `isAuthenticated`).
 * Sets `req.identity`, or passes an authentication error (decisions A1 to A3) to the error middleware. No scope names such a
 * route: an API key needs `*`, or `*:read` for a safe method.
 * @param service whose mode applies, as in `authMode`; omitted: the default
 */
export function isAuthenticated(server: ServerFacts, service = 'default'): RequestHandler {
  return async (req, res, next) => {
    const ctx = createRequestContext(server, req, res);
    const mode = server.authModeOf(service);
    const { identity } = await authenticate(ctx, mode);
    const isRead = SAFE_METHODS.includes(req.method);
    if (identity.key) checkScopes(identity, { name: service, isRead }, server.keylessServices);
    else if (mode === 'cookie' && !isRead) checkOrigin(ctx);
    checkFactor(server, identity);
    Object.assign(req, { identity });
    next();
  };
}
