import { randomUUID } from 'node:crypto';
import { answeredBy } from '@tandem/core';
import type { AnyTRPCRouter } from '@trpc/server';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { Histogram, type Registry } from 'prom-client';

/** A caller's request id that is accepted; others could carry anything into the log (decisions T4). */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
export const REQUEST_ID_HEADER = 'x-request-id';

/** A request whose client left before the answer: nginx's status, which no client sees. */
const CLIENT_CLOSED_REQUEST = 499;

/** Bucket bounds in seconds, from a cached read to a slow bcrypt. */
const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Names the answering route by its template, never by the path, which contains ids and arbitrary text of callers. */
function createRouteNames(router: AnyTRPCRouter): (req: Request) => string {
  const procedures = new Set(Object.keys(router._def.procedures));
  return (req) => {
    const called = answeredBy(req);
    if (called) return `/mcp/${called.operation}`;
    const route = req.route as { path?: unknown } | undefined;
    if (typeof route?.path === 'string') return req.baseUrl + route.path;
    const procedure = /^\/trpc\/([\w.]+)(\?|$)/.exec(req.originalUrl)?.[1];
    if (procedure !== undefined) return procedures.has(procedure) ? `/trpc/${procedure}` : '/trpc/unknown';
    return req.originalUrl.startsWith('/trpc/') ? '/trpc/batch' : 'unmatched';
  };
}

/**
 * Gives each request an id; when it is answered, measures it and logs one line without path, query, headers or body.
 * Written by hand because it runs for every request: a logger per request, as in `pino-http`, costs as much as a query.
 */
export function createObservation(options: {
  log: Logger;
  registry: Registry;
  router: AnyTRPCRouter;
  /** Whether the server is shutting down, so that 503 is no failure. */
  isStopping: () => boolean;
}): RequestHandler {
  const { registry, router, isStopping } = options;
  // these lines contain nothing to redact, and redaction takes twice as long as writing them
  const log = options.log.child({}, { redact: [] });
  const routeOf = createRouteNames(router);
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to answer a request, by method, route template and status',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return (req, res, next) => {
    const start = performance.now();
    const given = req.headers[REQUEST_ID_HEADER];
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    Object.assign(req, { id: requestId });
    res.setHeader(REQUEST_ID_HEADER, requestId);
    res.on('close', () => {
      const milliseconds = performance.now() - start;
      const { method } = req;
      // of a request that nothing has answered 200 is only the default
      const isUnanswered = !res.headersSent && res.statusCode === 200;
      const status = isUnanswered ? CLIENT_CLOSED_REQUEST : (answeredBy(req)?.status ?? res.statusCode);
      const route = routeOf(req);
      durations.observe({ method, route, status }, milliseconds / 1000);
      const facts = { requestId, method, route, status, milliseconds: Math.round(milliseconds * 10) / 10 };
      if (status === 101) log.info(facts, 'stream opened');
      else if (!res.writableFinished) log.warn(facts, 'request aborted');
      else if (status === 503 && isStopping()) log.info(facts, 'request refused');
      else if (status >= 500) log.error(facts, 'request failed');
      else log.info(facts, 'request');
    });
    next();
  };
}
