import {
  createBefore,
  createErrorMiddlewares,
  createBodyPace,
  createInProcessBus,
  createOpenApiDocument,
  createStreamPlaces,
  createTrpcFace,
  isAuthenticated,
  limitUnread,
  mountRest,
  scopedProcedures,
  serviceOf,
  type EventBus,
  type Identity,
  type IdentityTypeIds,
  type Log,
  type OpenApiDocument,
  type OpenApiOptions,
  type ScopedProcedure,
  type ServerFacts,
} from '@tandem/core';
import { VersionError, actingAs, expecting, hasMade, isStoreUnavailable, type TraceActor } from '@tandem/storage';
import type { AnyTRPCRouter } from '@trpc/server';
import { Router } from 'express';
import { cookiePrefixOf, createTokenCookies } from './authentication/cookies.js';
import { authModes, parseSize, type TandemConfiguration } from './configuration.js';
import type { Lifetimes } from './authentication/lifetimes.js';
import { createEventFollowers, handlersIn } from './events/event-followers.js';
import { createJobs, type JobRun } from './jobs/jobs.js';
import { openMcp } from './mcp.js';
import { createFilesRoute } from './files/files.route.js';
import { createKeptAnswers } from './idempotency/kept-answers.js';
import { createBrowserCookies } from './providers/browser-cookies.js';
import {
  SERVICES,
  SERVICE_NAMES,
  checkServices,
  createExposedRouter,
  type ExposedRouter,
  type ServiceName,
  type Services,
} from './router.js';
import { createServices } from './services.js';
import { readSettings } from './settings.js';
import type { DeclaredFields, WithFields } from './host-field-types.js';
import type { AnyService, MadeBy } from './shared/define-service.js';
import { withoutHostFields } from './shared/host-fields.js';
import { keepLast } from './shared/last-document.js';
import { createAsyncApiDocument, type AsyncApiDocument, type AsyncApiOptions } from './streams/asyncapi.js';
import { createStreams, type Streams } from './streams/streams.js';

const DEFAULT_TYPE_IDS: IdentityTypeIds = { admin: 'admin', guest: 'guest', regular: 'regular' };
/** No API key makes keys, or acts for a person at sign-in (decisions E4). */
const KEYLESS_SERVICES: ReadonlySet<string> = new Set(['auth']);
/** How often is looked for who is to be erased, or exported: within two minutes, also after the end of a process that held the turn. */
const LOOKED_AT = '10s';
/** Larger than any valid sign-in input (decisions H5). */
const AUTH_INPUT_BYTES = 64 * 1024;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * @typeParam Name the exposed services; default all
 * @typeParam Own services of the host's own; default none
 * @typeParam Fields those that the host adds to Tandem's records; default none
 */
export interface Tandem<
  Name extends ServiceName = ServiceName,
  Own extends readonly AnyService[] = readonly [],
  // oxlint-disable-next-line typescript/ban-types -- no fields
  Fields extends DeclaredFields = {},
> {
  /** The logic of the services, and of the host's own, by name. */
  services: Services & MadeBy<Own[number]>;
  bus: EventBus;
  facts: ServerFacts;
  lifetimes: Lifetimes;
  /** The procedures of the exposed services, and of the host's own. */
  router: WithFields<ExposedRouter<Name, Own[number]>, Fields>;
  /**
   * An Express router for REST, at its paths, tRPC, below `/trpc`, and MCP, at `/mcp`, if that is on.
   * @param router default the services' own; a host can pass a router that merges its own procedures
   * @throws TypeError for a path parameter that its procedure's input does not have
   */
  routes(router?: AnyTRPCRouter): Router;
  /**
   * Handles stream upgrades: `server.on('upgrade', tandem.handleUpgrades(app))`, for the HTTP server of the Express application
   * that has the routes.
   */
  handleUpgrades: Streams['handleUpgrades'];
  /** Open streams and their traffic, for metrics. */
  streamState: Streams['state'];
  /**
   * Closes the streams with a code that tells clients to reconnect. Call it before closing the HTTP server, which waits for
   * them.
   */
  closeStreams: Streams['close'];
  /** Must come after all routes of the application: 404 and the error envelope (spec, "Envelope"). */
  errorMiddlewares(): ReturnType<typeof createErrorMiddlewares>;
  /** The OpenAPI 3.1 document of a router; made once while it is asked for with the same router and options. */
  openApi(options: DescribedHost, router?: AnyTRPCRouter): Promise<OpenApiDocument>;
  /** Creates the AsyncAPI 3 document of the exposed streams. */
  asyncApi(options: AsyncApiOptions): AsyncApiDocument;
  /** For a host's own Express routes: refuses requests that are not signed in, and sets `req.identity`. */
  isAuthenticated: ReturnType<typeof isAuthenticated>;
  /** @deprecated renamed; use `isAuthenticated` */
  verifyAuthentication: ReturnType<typeof isAuthenticated>;
  /**
   * Runs a job from time to time, on one instance at a time, once `start` was called (docs/embedding.md). The interval counts from
   * the last start on any instance. What it throws is logged, and it runs again at its next interval.
   * @param interval a duration such as `5m`, one second at least
   * @param name of the job: instances that give the same one take turns
   * @throws Error for a wrong interval or name, and for a name that is taken here
   */
  every(interval: string, name: string, run: JobRun): void;
  /** Runs the jobs that are due, and waits for all that run here. For tests: `start` does so by itself. */
  runJobs(): Promise<void>;
  /**
   * Begins what works in the background: the handlers of events, webhooks, the jobs of `every`, the sweeps of the storage, the mails and the removal of files, the
   * latter two with their drivers. Does nothing a second time, or after `close`.
   */
  start(options?: StartOptions): void;
  /**
   * Ends what `start` began, of jobs for ten seconds at most; closes the streams, unsubscribes from the bus, and waits for pending
   * writes. Close the storage after this; it belongs to its opener.
   */
  close(): Promise<void>;
}

type DescribedHost = Omit<OpenApiOptions, 'authModeOf' | 'cookiePrefix'>;

/** How often queues are looked at for work of other instances, in milliseconds. Default 5,000. */
export interface StartOptions {
  mailPollMs?: number | undefined;
  filePollMs?: number | undefined;
  webhookPollMs?: number | undefined;
}

/** Who acted, in events: a key rather than its identity. */
const actorBy = ({ id, key }: Identity): TraceActor => (key ? { type: 'key', id: key.id } : { type: 'identity', id });

/** The procedures of a router that keys may call. */
function proceduresForKeys(router: AnyTRPCRouter): ScopedProcedure[] {
  return scopedProcedures(router).filter(({ name }) => !KEYLESS_SERVICES.has(serviceOf(name)));
}

/**
 * Creates the services, to be mounted by Tandem's own server or in a host's application (docs/embedding.md). Does not listen, and
 * starts no timers before `start`, except for open streams.
 * @throws Error naming a wrong setting
 * @throws StoreSetupError for a database into which an import is under way or was broken off
 */
export async function createTandem<
  Name extends ServiceName = ServiceName,
  const Own extends readonly AnyService[] = readonly [],
  // oxlint-disable-next-line typescript/ban-types -- no fields
  Fields extends DeclaredFields = {},
>(configuration: TandemConfiguration<Name, Own, Fields>): Promise<Tandem<Name, Own, Fields>> {
  const { storage, log = SILENT, bodyLimit = '1mb' } = configuration;
  const bus = configuration.bus ?? createInProcessBus(log);
  const typeIds = configuration.identity?.typeIds ?? DEFAULT_TYPE_IDS;
  const names = configuration.services ?? (SERVICE_NAMES as readonly Name[]);
  const own: readonly Own[number][] = configuration.ownServices ?? [];
  checkServices(names, own);
  const foundation = await readSettings(configuration, { bus, typeIds, log });
  const { lifetimes, mfaRequired, oauth } = foundation;
  await storage.expectWhole();
  const cookieSettings = configuration.cookies ?? {};
  const cookiePrefix = cookiePrefixOf(cookieSettings);
  const maxBodySize = parseSize('bodyLimit', bodyLimit);
  const services = createServices(foundation, own);
  const deadlineMs = configuration.deadlineMs ?? 14_000;
  const facts: ServerFacts = {
    development: configuration.development ?? false,
    typeIds,
    authModeOf: authModes(configuration.authMode),
    allowedOrigins: new Set(configuration.allowedOrigins),
    cookiePrefix,
    verifyAccess: services.sessions.verifyAccess,
    verifyKey: services.keyAccess.verify,
    keylessServices: KEYLESS_SERVICES,
    mfaRequired,
    actingAs: (identity, run) => actingAs(identity ? actorBy(identity) : null, run),
    expecting,
    isStale: (error) => error instanceof VersionError,
    hasMade,
    isUnavailable: isStoreUnavailable,
    inputLimits: { auth: Math.min(AUTH_INPUT_BYTES, maxBodySize) },
    bodyTurn: createBodyPace(maxBodySize),
    deadlineMs,
    keptAnswers: createKeptAnswers({ storage, holdMs: deadlineMs }),
    places: createStreamPlaces(configuration.streamLimits),
    log,
  };
  const before = createBefore(configuration.before ?? {}, withoutHostFields);
  const streams = createStreams({ services, facts, storage, bus, names, before, heartbeatMs: configuration.heartbeatMs });
  /** The procedures that scopes of API keys may name. */
  let mounted: readonly ScopedProcedure[] = [];
  const routerOptions = {
    cookies: createTokenCookies(cookieSettings),
    browserCookies: createBrowserCookies(cookieSettings, {
      publicUrl: configuration.publicUrl,
      tokenLifetime: lifetimes.provider,
    }),
    redirectUrls: oauth.redirectUrls,
    typeIds,
    subscriptions: streams.subscriptions,
    keyProcedures: () => mounted,
  };
  const ownRouter = before.appliedTo(createExposedRouter(services, routerOptions, { names, own }));
  mounted = proceduresForKeys(ownRouter);

  const authenticatedRoute = isAuthenticated(facts);
  const jobs = createJobs({ storage, log });
  jobs.every(LOOKED_AT, 'tandem.erasures', services.erasures.work);
  jobs.every(LOOKED_AT, 'tandem.exports', services.personalExports.work);
  if (services.retention.isOn) jobs.every('1m', 'tandem.retention', services.retention.work);
  const followers = createEventFollowers({ storage, events: services.events, bus, log });
  const { webhooks } = services;
  followers.add({ name: 'webhooks', atOnce: 100, handle: webhooks.dispatch, isNeeded: webhooks.isAnyEnabled });
  for (const handler of handlersIn(configuration.on ?? {}, services.lists.kinds())) followers.add(handler);
  let stops: (() => Promise<void>)[] | undefined;
  const described = [...SERVICES, ...own].map(({ name, description }) => ({ name, description }));
  const mcpFace = await openMcp(configuration.mcp, facts, { services: described, bodyLimit: maxBodySize });
  const openApi = keepLast((router: AnyTRPCRouter, options: DescribedHost) => {
    const tags = [...described, ...(options.tags ?? [])];
    return createOpenApiDocument(router, {
      ...options,
      tags,
      authModeOf: facts.authModeOf,
      keylessServices: KEYLESS_SERVICES,
      cookiePrefix,
    });
  });

  return {
    services,
    bus,
    facts,
    lifetimes,
    router: ownRouter as unknown as WithFields<typeof ownRouter, Fields>,

    routes(router: AnyTRPCRouter = ownRouter) {
      mounted = proceduresForKeys(router);
      const routes = Router({ caseSensitive: true });
      routes.use(limitUnread(), streams.routes(router));
      routes.use('/trpc', createTrpcFace(router, facts, maxBodySize));
      if (mcpFace) routes.use(mcpFace(router));
      const localFiles = configuration.files?.driver.local;
      if (localFiles) routes.use('/files', createFilesRoute(localFiles, services.files.uploads));
      mountRest(routes, router, facts, maxBodySize);
      return routes;
    },

    handleUpgrades: streams.handleUpgrades,
    streamState: streams.state,
    closeStreams: streams.close,
    errorMiddlewares: () => createErrorMiddlewares(facts),

    openApi: (options, router: AnyTRPCRouter = ownRouter) => openApi(router, options),

    asyncApi: (options) => createAsyncApiDocument(options, { ...facts, names, extended: services.hostFields.schema }),

    isAuthenticated: authenticatedRoute,
    verifyAuthentication: authenticatedRoute,

    every: jobs.every,
    runJobs: jobs.work,

    start({ mailPollMs, filePollMs, webhookPollMs } = {}) {
      if (stops) return;
      configuration.redis?.connect();
      jobs.start();
      followers.start();
      webhooks.sending.start(webhookPollMs);
      stops = [storage.startSweeping(), services.mails.startSending(mailPollMs), services.files.startRemoving(filePollMs)];
    },

    async close() {
      const ends = [jobs.stop, followers.stop, webhooks.sending.close, ...(stops ?? []), streams.close];
      stops = [];
      await Promise.all(ends.map((end) => end()));
      await services.sessions.close();
      await services.keyAccess.close();
      await services.audit.settle();
    },
  };
}
