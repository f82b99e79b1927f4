import { timingSafeEqual } from 'node:crypto';
import { requestErrors } from '@tandem/core';
import type { Request, RequestHandler } from 'express';
import { Registry, collectDefaultMetrics } from 'prom-client';

/** How often the event loop's delay is sampled, in milliseconds: each sample wakes a server that has nothing else to do. */
const LOOP_SAMPLE_MS = 100;

/** A registry with the metrics of the process. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  return registry;
}

/** `GET /metrics`: with the token, or from this machine when none is configured. Anybody else sees no such route. */
export function createMetricsRoute(registry: Registry, token: string | undefined): RequestHandler {
  return async (req, res) => {
    if (!isAllowed(req, token)) throw requestErrors.noSuchRoute();
    res.type(registry.contentType).send(await registry.metrics());
  };
}

function isAllowed(req: Request, token: string | undefined): boolean {
  if (token === undefined) {
    const isLoopback = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
    return isLoopback && req.headers['x-forwarded-for'] === undefined;
  }
  const [given, expected] = [Buffer.from(req.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
