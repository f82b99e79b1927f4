import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnyTRPCRouter } from '@trpc/server';
import express from 'express';
import { createErrorMiddlewares, createStreamPlaces, createTrpcFace, mountRest, type ServerFacts } from '../src/index.js';

const BODY_LIMIT = 1_000_000;

/**
 * Serves a router by both faces, without a database: REST at its routes, tRPC below `/trpc`.
 * @param given of what a server knows what the test is about; nobody can sign in without it
 */
export async function serve(router: AnyTRPCRouter, given: Partial<ServerFacts> = {}) {
  const facts: ServerFacts = {
    development: false,
    typeIds: { admin: 'admin', guest: 'guest', regular: 'regular' },
    authModeOf: () => 'bearer',
    allowedOrigins: new Set(),
    verifyAccess: () => Promise.reject(new Error('nobody signs in here')),
    isUnavailable: () => false,
    deadlineMs: 14_000,
    places: createStreamPlaces(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    ...given,
  };
  const host = express();
  host.use('/trpc', createTrpcFace(router, facts, BODY_LIMIT));
  mountRest(host, router, facts, BODY_LIMIT);
  host.use(...createErrorMiddlewares(facts));
  const server = http.createServer(host).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
export type Served = Awaited<ReturnType<typeof serve>>;
