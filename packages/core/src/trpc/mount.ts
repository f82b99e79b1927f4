import type { AnyTRPCRouter } from '@trpc/server';
import { createExpressMiddleware } from '@trpc/server/adapters/express';
import { Router, type Request } from 'express';
import { createRequestContext, type RequestContext, type ServerFacts } from '../context.js';
import { requestErrors } from '../errors.js';
import { refuseKeyOfBatch } from '../idempotency.js';
import { isJson } from '../media-type.js';

/** Most calls that one request, or one frame, may carry. */
export const MAX_BATCH_SIZE = 20;

/** Requests whose body has another content type. */
const unreadable = new WeakSet<Request>();

/**
 * The tRPC face: procedures by name, one or more per request.
 * @param maxBodySize for JSON bodies, in bytes
 */
export function createTrpcFace(router: AnyTRPCRouter, server: ServerFacts, maxBodySize: number): Router {
  const face = Router({ caseSensitive: true });
  // tRPC's adapter would refuse other content types than its own before authentication, `application/problem+json` among
  // them; what is not JSON is refused when the body is read, as on the REST face (decisions T3, T6)
  face.use((req, res, next) => {
    res.setHeader('cache-control', 'no-store');
    if (req.method === 'POST') {
      if (!isJson(req.headers['content-type'])) unreadable.add(req);
      req.headers['content-type'] = 'application/json';
    }
    next();
  });
  face.use(
    createExpressMiddleware({
      router,
      maxBodySize,
      maxBatchSize: MAX_BATCH_SIZE,
      responseMeta: ({ ctx, errors }) => {
        const status = (ctx as RequestContext | undefined)?.refusedWith;
        const isOtherType = errors.some(({ code }) => code === 'UNSUPPORTED_MEDIA_TYPE');
        return { ...(status && { status }), ...(isOtherType && { headers: { accept: 'application/json' } }) };
      },
      createContext({ req, res, info }) {
        const ctx = createRequestContext(server, req, res);
        if (info.calls.length > 1) {
          refuseKeyOfBatch(ctx);
          ctx.batch = {};
        }
        if (unreadable.has(req)) ctx.unreadableBody = requestErrors.unsupportedType();
        return ctx;
      },
    }),
  );
  return face;
}
