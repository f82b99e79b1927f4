import http from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { ERROR_CODE_HEADER, describeError, requestErrors, withDeadline } from '@tandem/core';
import { authModes, createTandem, type Tandem, type TandemConfiguration } from '@tandem/services';
import type { Clock, Storage } from '@tandem/storage';
import cors from 'cors';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import type { Logger } from 'pino';
import { createApiPage } from './api-page.js';
import { createDocumentRoute } from './compressed-document.js';
import type { Config } from './config.js';
import { consoleReturnUrl, createConsolePage } from './console-page.js';
import { openDataDir } from './data-dir.js';
import { openDatabase, type Database } from './database.js';
import { VERSION, describeApi, describeStreams } from './documents.js';
import { openDrivers, type Drivers } from './drivers.js';
import { createDrain } from './drain.js';
import { createFrontDoor } from './front-door.js';
import { listenProblem } from './listen-problem.js';
import { answerClientError, answerStarting, limitArrival, refuseWithoutHost } from './outside-express.js';
import { addMetrics, createMetricsRoute, createRegistry } from './metrics.js';
import { REQUEST_ID_HEADER, createObservation } from './observation.js';
import { ownPages } from './own-pages.js';
import { createAssets } from './pages.js';
import { serverUrl } from './server-url.js';

/** How long a closing server waits for requests in progress, in milliseconds. */
const DRAIN_MS = 15_000;
/** How often Node checks for slow requests, in milliseconds: they may exceed their limit by this much. */
const SLOWNESS_CHECK_MS = 1000;
/**
 * How long the database may take for a server to count as ready, in milliseconds: health checks have short timeouts.
 */
const READY_MS = 2000;
/** Time for the head of a request to arrive, in milliseconds; slower senders are cut off. */
const HEAD_TIMEOUT_MS = 15_000;
/** Longer than proxies keep idle connections, or a proxy would send requests to ones that have just been closed. */
const KEEP_ALIVE_MS = 65_000;
/** Time for a body to arrive, in milliseconds: less than an operation's deadline, whose 503 would blame the server. */
const BODY_TIMEOUT_MS = 13_000;
/** Time for a file to arrive, in milliseconds: enough for the largest at 0.7 Mbit/s. */
const UPLOAD_TIMEOUT_MS = 120_000;

/** What pages on other origins may read besides the body (decisions E6). They may send any header. */
const EXPOSED_HEADERS = [REQUEST_ID_HEADER, ERROR_CODE_HEADER, 'etag', 'ratelimit', 'ratelimit-policy', 'retry-after'];

/** A listening server. */
export interface RunningServer {
  url: string;
  tandem: Tandem;
  storage: Storage;
}
export interface Server {
  /** Opens the database, creates its indexes, listens. @throws when any of them fails, leaving nothing open */
  start(): Promise<RunningServer>;
  /** Answers the requests in progress, refuses new ones, closes the database. May be called repeatedly. */
  close(): Promise<void>;
}

/** Configuration that is set in code, not by variables. */
export type CodeConfiguration = Pick<
  TandemConfiguration,
  'verifyImportedPassword' | 'checkPassword' | 'heartbeatMs' | 'streamLimits' | 'bus' | 'fields' | 'before' | 'on'
>;

/** The services' configuration for a store. */
export function wire(
  config: Config,
  {
    storage,
    drivers,
    log,
    publicUrl,
    code = {},
  }: { storage: Storage; drivers: Drivers; log: Logger; publicUrl: string; code?: CodeConfiguration },
): Promise<Tandem> {
  const returnUrl = consoleReturnUrl(config, publicUrl);
  return createTandem({
    ...code,
    storage,
    log,
    authSecrets: config.authSecrets,
    authMode: config.authModes,
    identity: { typeIds: config.typeIds },
    ...config.lifetimes,
    auditRetention: config.auditRetention,
    eventRetention: config.eventRetention,
    eventMessageTexts: config.eventMessageTexts,
    ...config.erasure,
    mfaEnabled: config.mfaEnabled,
    mfaRequired: config.mfaRequired,
    bcryptCost: config.bcryptCost,
    ...ownPages(config, publicUrl),
    cookies: config.cookies,
    rateLimits: config.rateLimits,
    ...(drivers.redis && { redis: drivers.redis }),
    ...(drivers.bus && { bus: drivers.bus }),
    publicUrl,
    providers: config.providers,
    redirectUrls: [...config.redirectUrls, ...(returnUrl === undefined ? [] : [returnUrl])],
    mail: { ...config.mail, driver: drivers.mail, linksUrl: config.mail.linksUrl ?? publicUrl },
    files: { driver: drivers.files, ...(config.files.quota !== undefined && { quota: config.files.quota }) },
    bodyLimit: config.bodyLimit,
    mcp: config.mcp && { name: 'Tandem', version: VERSION },
    webhooks: config.webhooks,
    development: config.development,
  });
}

/**
 * Helmet's security headers; those for https only where the server is reached by https. They are the same for every
 * answer, so helmet runs once.
 */
function securityHeaders(publicUrl: string): RequestHandler {
  const isHttps = publicUrl.startsWith('https:');
  const headers = new http.ServerResponse(new http.IncomingMessage(new Socket()));
  helmet({
    strictTransportSecurity: isHttps,
    contentSecurityPolicy: { directives: { baseUri: ["'none'"], upgradeInsecureRequests: isHttps ? [] : null } },
  })(headers.req, headers, () => {});
  const pairs = Object.entries(headers.getHeaders()) as [string, string][];
  return (_req, res, next) => {
    for (const [name, value] of pairs) res.setHeader(name, value);
    next();
  };
}

function createApp(
  config: Config,
  options: {
    tandem: Tandem;
    storage: Storage;
    drivers: Drivers;
    log: Logger;
    publicUrl: string;
    isReady: () => Promise<boolean>;
    isStopping: () => boolean;
  },
): Express {
  const { tandem, drivers, log, publicUrl, isReady, isStopping } = options;
  const app = express();
  const registry = createRegistry();
  addMetrics(registry, tandem, options.storage);
  app
    .enable('case sensitive routing')
    .disable('x-powered-by')
    .disable('etag')
    .set('query parser', false)
    .set('trust proxy', config.trustProxy);
  app.use(createObservation({ log, registry, router: tandem.router, isStopping }), securityHeaders(publicUrl));
  if (config.corsOrigins.length > 0)
    app.use(cors({ origin: config.corsOrigins, credentials: true, exposedHeaders: EXPOSED_HEADERS, maxAge: 600 }));
  // first, because most requests are theirs: Express tries routes in order
  app.use(tandem.routes());
  app.get('/health/live', (_req, res) => void res.json({ status: 'ok' }));
  app.get('/health/ready', async (_req, res) => {
    if (!(await isReady())) throw requestErrors.unavailable({ retryAfter: 2 });
    res.json({ status: 'ok' });
  });
  app.get('/metrics', createMetricsRoute(registry, config.metricsToken));
  const documents = { '/openapi.json': describeApi, '/asyncapi.json': describeStreams };
  for (const [path, describe] of Object.entries(documents))
    app.get(
      path,
      createDocumentRoute(() => describe(tandem, config)),
    );
  app.use(createAssets(), createApiPage());
  if (config.console) {
    const returnUrl = consoleReturnUrl(config, publicUrl);
    const settings = {
      authMode: authModes(config.authModes)('auth'),
      adminTypeId: config.typeIds.admin,
      brand: config.brand,
      passkeys: tandem.services.factors.hasPasskeys,
      providers: returnUrl === undefined ? [] : Object.keys(config.providers),
      ...(returnUrl !== undefined && { returnUrl }),
    };
    app.use(createConsolePage(settings, drivers.files));
  }
  app.use(createFrontDoor(tandem.router, config), ...tandem.errorMiddlewares());
  return app;
}

/** Makes a server from a configuration. Signals and process exit are left to the command. */
export function createServer(
  config: Config,
  {
    log,
    clock,
    code,
    arrivalMs = HEAD_TIMEOUT_MS,
  }: {
    log: Logger;
    clock?: Clock;
    code?: CodeConfiguration;
    /**
     * Time for the head of a request to arrive, in milliseconds, and the most for a body that is not a file. Default
     * 15,000.
     */
    arrivalMs?: number;
  },
): Server {
  let app: Express | undefined;
  const server = http.createServer({
    requestTimeout: UPLOAD_TIMEOUT_MS,
    headersTimeout: arrivalMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(SLOWNESS_CHECK_MS, arrivalMs),
    // Node's own refusal is empty
    requireHostHeader: false,
  });
  // first, so that it sees each request before it can be answered
  const drain = createDrain(server, { delayMs: config.shutdownDelayMs, limitMs: DRAIN_MS });
  server.on('request', (req, res) => {
    if (refuseWithoutHost(req, res)) return;
    limitArrival(req, res, Math.min(arrivalMs, BODY_TIMEOUT_MS));
    void (app ? app(req, res) : answerStarting(res));
  });
  server.on('clientError', answerClientError);
  // an expectation that is unknown here may be ignored (RFC 9110)
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('upgrade', (req, socket, head) => {
    if (app && tandem) tandem.handleUpgrades(app).call(server, req, socket, head);
    else socket.destroy();
  });
  let database: Database | undefined;
  let drivers: Drivers | undefined;
  let tandem: Tandem | undefined;
  let closing: Promise<void> | undefined;

  async function isReady(): Promise<boolean> {
    if (closing || !database) return false;
    return withDeadline(READY_MS, database.storage.ping()).then(
      () => true,
      () => false,
    );
  }

  function listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      server
        .once('error', (error) => reject(listenProblem(error, config)))
        .listen(config.port, config.host, () => {
          const { port } = server.address() as AddressInfo;
          resolve(serverUrl(config.host, port));
        });
    });
  }

  async function shutDown(): Promise<void> {
    await drain.delay();
    await Promise.all([tandem?.closeStreams(), drain.end()]);
    // a mail that its server has not accepted by then goes back to the queue, for another instance or the next start
    const cut = setTimeout(() => void drivers?.mail.close(), DRAIN_MS);
    await tandem?.close().finally(() => clearTimeout(cut));
    await drivers?.close();
    await database?.close();
  }

  async function open(): Promise<RunningServer> {
    if (config.mail.url === 'outbox:' || config.files.url === 'disk:') openDataDir(config.dataDir);
    database = await openDatabase(config, log, clock);
    const { storage } = database;
    // listens first, because the public URL of the services contains the port
    const url = await listen();
    const publicUrl = config.publicUrl ?? url;
    drivers = await openDrivers(config, { log, publicUrl, clock: storage.clock });
    // early, so that the first requests are counted there
    drivers.redis?.connect();
    tandem = await wire(config, { storage, drivers, log, publicUrl, ...(code && { code }) });
    await storage.ensureIndexes();
    const first = config.bootstrapAdmin && (await tandem.services.authentication.ensureAdmin(config.bootstrapAdmin));
    if (first === 'made') log.info({}, 'made the first admin');
    // it may be anybody's account: only a person can know
    if (first === 'taken')
      log.warn({}, 'there is no admin: the account of BOOTSTRAP_ADMIN_EMAIL is none. Promote one with `tandem admin promote`');
    tandem.start({ mailPollMs: config.mail.pollMs, filePollMs: config.files.pollMs, webhookPollMs: config.webhooks.pollMs });
    app = createApp(config, { tandem, storage, drivers, log, publicUrl, isReady, isStopping: () => closing !== undefined });
    return { url, tandem, storage };
  }

  function close(): Promise<void> {
    closing ??= shutDown();
    return closing;
  }

  return {
    async start() {
      try {
        return await open();
      } catch (error) {
        await close().catch((cause: unknown) => log.error({ err: describeError(cause) }, 'the server did not close'));
        throw error;
      }
    },
    close,
  };
}
