import { timingSafeEqual } from 'node:crypto';
import { requestErrors } from '@tandem/core';
import type { Request, RequestHandler } from 'express';
import type { Tandem } from '@tandem/services';
import type { Storage } from '@tandem/storage';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Sampling interval of the event loop's delay, in milliseconds: each sample wakes an otherwise idle server. */
const LOOP_SAMPLE_MS = 100;

let ofProcess: Registry | undefined;

/** The metrics of the process: measured once for all of its servers, since what measures them never ends. */
function processMetrics(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  return ofProcess;
}

/** A registry with the metrics of the process. */
export const createRegistry = (): Registry => Registry.merge([processMetrics()]);

/** Bucket bounds of an operation's time, in seconds: from a look-up in memory to the store's own limit. */
const OPERATION_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/** Headers set by proxies: a request through a proxy on this machine may come from anywhere. */
const PROXY_HEADER = /^(forwarded|x-forwarded-.*|x-real-ip|via)$/;
/** How long the metrics wait for the store, in milliseconds: they matter most when it is in trouble. */
const STORE_MS = 1000;

/** Exposes a counter that is kept elsewhere as plain numbers, where counting costs nothing. */
function addCounter(
  registry: Registry,
  { name, help, label }: { name: string; help: string; label: string },
  read: () => Iterable<readonly [string | number, number]>,
): void {
  const counter = new Counter({
    name,
    help,
    labelNames: [label],
    registers: [],
    collect() {
      this.reset();
      for (const [value, count] of read()) this.inc({ [label]: value }, count);
    },
  });
  registry.registerMetric(counter);
}

function addGauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  const gauge = new Gauge({
    name,
    help,
    registers: [],
    async collect() {
      this.set(await read());
    },
  });
  registry.registerMetric(gauge);
}

/** Store operations. Each name keeps its own child metric: finding it by labels takes longer than measuring. */
function addOperations(registry: Registry, storage: Storage): void {
  const durations = new Histogram({
    name: 'database_operation_duration_seconds',
    help: 'Time of a database operation, including the wait for a connection, by operation and whether it failed',
    labelNames: ['operation', 'failed'],
    buckets: OPERATION_BUCKETS,
    registers: [registry],
  });
  const childOf = (operation: string, failed: string) => durations.labels({ operation, failed });
  const children = new Map<string, ReturnType<typeof childOf>>();
  storage.onOperation((operation, milliseconds, hasFailed) => {
    const key = hasFailed ? `${operation} failed` : operation;
    const child = children.get(key) ?? childOf(operation, String(hasFailed));
    children.set(key, child);
    child.observe(milliseconds / 1000);
  });
}

/** The mail queue in the store. No number while the store does not answer. */
function addMailQueue(registry: Registry, { services }: Tandem, storage: Storage): void {
  async function read() {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), STORE_MS)));
    const state = await Promise.race([services.mails.queueState().catch(() => undefined), late]);
    clearTimeout(timer);
    return state;
  }
  let reading: ReturnType<typeof read> | undefined;
  /** One read serves both numbers. */
  const queueState = () => (reading ??= read().finally(() => (reading = undefined)));

  addGauge(
    registry,
    'mail_queue_length',
    'Mails waiting to be sent or retried, over all instances',
    async () => (await queueState())?.length ?? Number.NaN,
  );
  addGauge(registry, 'mail_queue_oldest_seconds', 'Age of the oldest mail in the queue, over all instances', async () => {
    const state = await queueState();
    if (!state) return Number.NaN;
    return state.oldestAt ? Math.max(storage.clock.now().getTime() - state.oldestAt.getTime(), 0) / 1000 : 0;
  });
  addCounter(registry, { name: 'mails_total', help: 'Attempts to send a mail, by outcome', label: 'result' }, () =>
    Object.entries(services.mails.results),
  );
}

/** Adds metrics of the store, the mail and password queues, and the streams of a server (docs/observability.md). */
export function addMetrics(registry: Registry, tandem: Tandem, storage: Storage): void {
  addOperations(registry, storage);
  const connections = () => storage.connections();
  addGauge(registry, 'database_connections_open', 'Connections to the database', () => connections().open);
  addGauge(registry, 'database_connections_in_use', 'Connections with an operation in progress', () => connections().inUse);
  addGauge(registry, 'database_connections_waiting', 'Operations that wait for a connection', () => connections().waiting);
  addMailQueue(registry, tandem, storage);
  const hashing = () => tandem.services.passwords.queueState();
  addGauge(registry, 'password_hashes_running', 'Passwords being hashed or compared', () => hashing().running);
  addGauge(registry, 'password_hashes_waiting', 'Passwords waiting to be hashed or compared', () => hashing().waiting);
  addGauge(registry, 'streams_open', 'WebSockets that are open', () => tandem.streamState().open);
  addCounter(
    registry,
    { name: 'stream_frames_total', help: 'Frames of WebSockets, received from clients or sent to them', label: 'direction' },
    () => Object.entries({ received: tandem.streamState().received, sent: tandem.streamState().sent }),
  );
  addCounter(
    registry,
    { name: 'stream_closes_total', help: 'WebSockets that were closed, by code; 0 is any code of a client', label: 'code' },
    () => tandem.streamState().closed,
  );
}

/** `GET /metrics`: with the token, or from this machine when none is configured. All others get 404. */
export function createMetricsRoute(registry: Registry, token: string | undefined): RequestHandler {
  return async (req, res) => {
    if (!isAllowed(req, token)) throw requestErrors.noSuchRoute();
    res.type(registry.contentType).send(await registry.metrics());
  };
}

function isAllowed(req: Request, token: string | undefined): boolean {
  if (token === undefined) {
    const isLoopback = ['127.0.0.1', '::1', '::ffff:127.0.0.1'].includes(req.socket.remoteAddress ?? '');
    return isLoopback && !Object.keys(req.headers).some((name) => PROXY_HEADER.test(name));
  }
  const [given, expected] = [Buffer.from(req.headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
