import type { Request, RequestHandler } from 'express';
import { authenticate, checkOrigin } from '../authentication.js';
import { createRequestContext, type Identity, type ServerFacts } from '../context.js';

/** A request that `isAuthenticated` has let through. */
export interface AuthenticatedRequest extends Request {
  identity: Identity;
}

/** Methods that change nothing, by their definition: a request from another origin does no harm. */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * The authentication of the procedures for an Express route of a host application (spec, "Versioning": `isAuthenticated`).
 * Leaves the caller as `req.identity`, or hands the error of decisions A1 to A3 on to the error middleware.
 * @param service whose mode counts, as in `authMode`; without one the default
 */
export function isAuthenticated(server: ServerFacts, service = 'default'): RequestHandler {
  return async (req, res, next) => {
    const ctx = createRequestContext(server, req, res);
    const mode = server.authModeOf(service);
    Object.assign(req, { identity: (await authenticate(ctx, mode)).identity });
    if (mode === 'cookie' && !SAFE_METHODS.includes(req.method)) checkOrigin(ctx);
    next();
  };
}
