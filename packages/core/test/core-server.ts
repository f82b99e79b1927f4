import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AnyTRPCRouter } from '@trpc/server';
import express, { type Express } from 'express';
import {
  authenticationErrors,
  createAccessWatch,
  createErrorMiddlewares,
  createStreamPlaces,
  createStreamServer,
  createTrpcFace,
  hashFingerprint,
  mountRest,
  type AccessWatch,
  type Log,
  type ServerFacts,
  type Stream,
  type StreamServer,
} from '../src/index.js';

/**
 * Identities that may sign in here: the token is the name. `phone` gave the fingerprint `own` at login; asking for
 * `unreachable` fails as an unavailable store.
 */
const PEOPLE = ['ann', 'bob', 'root', 'phone', 'visitor'];
const TYPE_IDS = { admin: 'admin', guest: 'guest', regular: 'regular' };

/** The error of an unavailable store. */
export const storeAway = () => new Error('store away');

export interface CoreServer extends AsyncDisposable {
  url: string;
  facts: ServerFacts;
  watch: AccessWatch;
  streams: StreamServer;
  /** Log lines: level, facts, text. */
  lines: { level: string; facts: object; text: string }[];
  /** Sessions that have ended. */
  ended: Set<string>;
  /** How often a token was verified. */
  verifications(): number;
  /** Its JSON, its status, its headers. */
  ask(method: string, path: string, request?: { headers?: Record<string, string>; body?: string }): Promise<Answer>;
}
export interface Answer {
  status: number;
  body: unknown;
  headers: Headers;
}

interface CoreServerOptions {
  facts?: Partial<ServerFacts>;
  /** Of the tRPC face, in bytes. */
  trpcBodyLimit?: number;
  /** Of the REST face. */
  bodyLimit?: string | number;
  streams?(parts: { watch: AccessWatch }): Stream[];
  heartbeatMs?: number;
  /** Called with the application before the routes. */
  prepare?(host: Express, facts: ServerFacts): void;
}

/** A server with procedures only, without store or services: both faces, and streams. */
export async function startCoreServer(app: AnyTRPCRouter, options: CoreServerOptions = {}): Promise<CoreServer> {
  const lines: CoreServer['lines'] = [];
  const at = (level: string) => (facts: object, text: string) => void lines.push({ level, facts, text });
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const ended = new Set<string>();
  let verifications = 0;
  const facts: ServerFacts = {
    development: false,
    typeIds: TYPE_IDS,
    authModeOf: (service) => (service === 'cookies' ? 'cookie' : 'bearer'),
    allowedOrigins: new Set(['https://app.example.org']),
    verifyAccess(token) {
      verifications += 1;
      if (token === 'unreachable') return Promise.reject(storeAway());
      const sessionId = `session of ${token}`;
      if (!PEOPLE.includes(token) || ended.has(sessionId)) return Promise.reject(authenticationErrors.unverified());
      const typeId = { root: TYPE_IDS.admin, visitor: TYPE_IDS.guest }[token] ?? TYPE_IDS.regular;
      const fingerprintHash = token === 'phone' ? hashFingerprint('own') : undefined;
      return Promise.resolve({ identity: { id: token, typeId, sessionId }, fingerprintHash, expiresAt: Number.MAX_SAFE_INTEGER });
    },
    verifyKey: () => Promise.reject(authenticationErrors.unverified()),
    keylessServices: new Set(),
    isUnavailable: (error) => error instanceof Error && error.message === storeAway().message,
    deadlineMs: 10_000,
    places: createStreamPlaces(),
    log,
    ...options.facts,
  };
  const clock = { now: () => new Date() };
  const findEnded = () => Promise.resolve(ended);
  const watch = createAccessWatch({ clock, log, findEnded });
  const streams = createStreamServer(facts, { watch, heartbeatMs: options.heartbeatMs });

  const host = express();
  options.prepare?.(host, facts);
  host.use(streams.routes(options.streams?.({ watch }) ?? []));
  host.use('/trpc', createTrpcFace(app, facts, options.trpcBodyLimit ?? 1000));
  mountRest(host, app, facts, options.bodyLimit ?? '1mb');
  host.use(...createErrorMiddlewares(facts));
  const server = http.createServer(host).on('upgrade', streams.handleUpgrades(host));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    facts,
    watch,
    streams,
    lines,
    ended,
    verifications: () => verifications,
    async ask(method, path, { headers = {}, body } = {}) {
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
    },
    async [Symbol.asyncDispose]() {
      await streams.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
