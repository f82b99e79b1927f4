import { getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server';
import { z } from 'zod';
import { addressGroup } from './address-group.js';
import { declaredError, stackOf } from './answer.js';
import { authenticateCall, authenticationErrors, checkOrigin, hasCredentials, originErrors } from './authentication.js';
import { builderFor } from './builder.js';
import type { AuthMode, Identity, RequestContext, VerifiedAccess } from './context.js';
import { withDeadline } from './deadline.js';
import { factorErrors, lacksFactor } from './factors.js';
import { checkScopes, keyErrors, mayAsk } from './keys.js';
import { describeError } from './error-log.js';
import { ApiError, requestErrors, unexpectedError, validationError, type ErrorDefinition } from './errors.js';
import { Waiting } from './leaving.js';
import { isForm } from './media-type.js';
import { tooDeep, withoutExcess } from './excess-input.js';
import { placesOf, schemaOf, scopedProcedure, serviceOf, type Meta } from './operation.js';
import { untilOver } from './streams/until-over.js';
import { validationTexts } from './validation-texts.js';

/** Interval of keep-alive messages on a streamed answer, in milliseconds: proxies cut idle connections. */
const SSE_PING_MS = 15_000;

const trpc = builderFor<RequestContext>().create({
  isDev: false,
  sse: { ping: { enabled: true, intervalMs: SSE_PING_MS } },
  /** tRPC's shape with our texts: messages of its adapters never leave (decisions T2) */
  errorFormatter({ shape, error, ctx }) {
    const { status, message, data, errorCode } = declaredError(error) ?? requestErrors.unexpected();
    const httpStatus: number = status;
    const stack = ctx?.server.development === true ? stackOf(error) : undefined;
    return {
      message,
      code: shape.code,
      data: {
        code: shape.data.code,
        httpStatus,
        errorCode,
        ...(shape.data.path !== undefined && { path: shape.data.path }),
        ...(data && { data }),
        ...(stack !== undefined && { stack }),
      },
    };
  },
});

/** Groups procedures and routers by name; the names form the tRPC path. */
export const { router, mergeRouters, procedure, middleware } = trpc;

/** What the documents say of a middleware. */
interface Declaration {
  /** What it may throw. */
  errors: readonly ErrorDefinition[];
  /** Who passes, as a phrase: `the owner of the channel`. Absent where everybody passes. */
  says?: string;
  /** It is the authentication. */
  isAuthentication?: true;
}

const declarations = new WeakMap<object, Declaration>();

/** Attaches a declaration to a middleware, for the documents; returns the middleware. */
export function withDeclaration<M extends { _middlewares: object[] }>(middleware: M, declaration: Declaration): M {
  for (const part of middleware._middlewares) declarations.set(part, declaration);
  return middleware;
}

/** The declarations of a procedure's middlewares, in order. */
export function declaredBy(middlewares: readonly object[]): Declaration[] {
  return middlewares.flatMap((middleware) => declarations.get(middleware) ?? []);
}

/** What a host application's procedure has thrown in tRPC's terms; undefined for an unexpected failure. */
export function hostsError(error: TRPCError): ApiError | undefined {
  // a TypeError inside an input check is a bug of ours, not of the caller, and its text stays internal
  const isFault = error.code === 'BAD_REQUEST' && error.cause instanceof TypeError;
  return error.code === 'INTERNAL_SERVER_ERROR' || isFault ? undefined : ApiError.fromTrpc(error);
}

/** Turns a failure inside a procedure into what the caller sees. Logs unexpected failures, once (decisions T4). */
async function translate(
  error: TRPCError,
  call: { ctx: RequestContext; path: string; meta: Meta; readInput: () => Promise<unknown> },
) {
  const { ctx, path, meta } = call;
  if (error instanceof ApiError) return error;
  if (error.code === 'BAD_REQUEST' && error.cause instanceof z.core.$ZodError)
    return validationError(validationTexts(error.cause.issues, await call.readInput(), placesOf(meta)));
  // a recursive schema overflowed the stack on the body
  const deep = error.code === 'BAD_REQUEST' ? tooDeep(error.cause) : undefined;
  if (deep) return deep;
  const ofHost = hostsError(error);
  if (ofHost) return ofHost;
  const isUnavailable = ctx.server.isUnavailable(error.cause);
  ctx.log.error({ err: describeError(error.cause ?? error), procedure: path, requestId: ctx.requestId }, 'unexpected failure');
  return unexpectedError(meta.rest?.failure ?? requestErrors.unexpected.message, { isUnavailable, cause: error.cause ?? error });
}

/**
 * Counts a server-sent events answer as a connection until it ends.
 * @throws requestErrors.tooMany
 */
function countAnswer(ctx: RequestContext, identity: Identity | undefined): void {
  const { places } = ctx.server;
  const connection = { holder: '', subscriptions: 1 };
  try {
    places.open(connection, identity?.id ?? addressGroup(ctx.ip));
  } catch (error) {
    if (error instanceof ApiError) ctx.refusedWith = error.status;
    throw error;
  }
  ctx.departures.add(() => places.close(connection));
}

interface ProcedureCall {
  ctx: RequestContext;
  path: string;
  type: string;
  meta: Meta;
  readInput(): Promise<unknown>;
}

/**
 * The first middleware of every procedure: enforces the deadline (for a subscription, only until it begins), takes
 * absent input as empty, and translates failures. It is a single middleware because tRPC copies each call for each one.
 * @param enter refuses a caller by throwing a declared error; returns what is added to the context
 */
function firstMiddleware<Added extends { identity?: Identity }>(
  enter: (call: ProcedureCall) => Promise<Added> | Added,
  declaration: Declaration,
) {
  const middleware = trpc.middleware(async ({ ctx, path, type, meta = {}, getRawInput, signal, next }) => {
    const read = async () => {
      if (ctx.unreadableBody) throw ctx.unreadableBody;
      try {
        await ctx.server.bodyTurn?.(ctx);
        const input = await getRawInput();
        if (input === undefined) return {};
        const limit = ctx.server.inputLimits?.[serviceOf(path)];
        if (limit !== undefined && Buffer.byteLength(JSON.stringify(input)) > limit) throw requestErrors.tooLarge();
        const schema = schemaOf(meta);
        return schema ? withoutExcess(schema, input) : input;
      } catch (error) {
        throw declaredError(error) ?? tooDeep(error) ?? error;
      }
    };
    let reading: Promise<unknown> | undefined;
    // rules, validation and the texts of refusals all read the input: read it once, as the REST face does by itself
    const readInput = ctx.rest ? getRawInput : () => (reading ??= read());
    const waiting = new Waiting(ctx.departures);
    const goOn = async () => {
      const added = await enter({ ctx, path, type, meta, readInput });
      if (type === 'subscription') await (ctx.calls ? ctx.calls.turn() : countAnswer(ctx, added.identity));
      // tRPC accepts both together; its types accept only either
      const run = () => next({ ctx: { ...added, waiting }, getRawInput: readInput } as { ctx: Added });
      return type === 'mutation' && ctx.server.actingAs ? ctx.server.actingAs(added.identity, run) : run();
    };
    let leave: (() => void) | undefined;
    ctx.calls?.began();
    try {
      if (type === 'subscription') leave = ctx.calls?.subscribed();
      const result = await withDeadline(ctx.server.deadlineMs, goOn());
      if (!result.ok) throw result.error;
      ctx.calls?.succeeded(type);
      return leave ? { ...result, data: untilOver(result.data, signal, leave) } : result;
    } catch (error) {
      leave?.();
      const failure = await translate(getTRPCErrorFromUnknown(error), { ctx, path, meta, readInput });
      // set here for both faces, because tRPC's adapter does not support headers on errors
      if (failure.retryAfter !== undefined) ctx.setHeader('retry-after', String(failure.retryAfter));
      throw failure;
    } finally {
      waiting.over();
      ctx.calls?.ended();
    }
  });
  return withDeclaration(middleware, declaration);
}

function authModeOf({ ctx, path }: Pick<ProcedureCall, 'ctx' | 'path'>): AuthMode {
  return ctx.server.authModeOf(serviceOf(path));
}

/** Whether a call is one that a caller without the required factor may make about themselves. */
async function isAboutCaller({ ctx, meta, readInput }: ProcedureCall, { id }: Identity): Promise<boolean> {
  const key = meta.rest?.withoutFactor;
  if (key === undefined) return false;
  const named: unknown = ctx.rest ? ctx.rest.params : await readInput();
  return typeof named === 'object' && named !== null && Reflect.get(named, key) === id;
}

const withoutAuthentication = firstMiddleware(
  (call) => {
    const isExpectedForm = call.meta.rest?.isForm === true && isForm(call.ctx.headers['content-type']);
    if (call.type === 'mutation' && !isExpectedForm && authModeOf(call) === 'cookie') checkOrigin(call.ctx);
    return {};
  },
  { errors: Object.values(originErrors) },
);

const withAuthentication = firstMiddleware(
  async (call) => {
    const mode = authModeOf(call);
    const access = await authenticateCall(call.ctx, mode);
    if (access.identity.key)
      checkScopes(access.identity, scopedProcedure(call.path, call.type, call.meta), call.ctx.server.keylessServices);
    // browsers attach cookies by themselves, but no key
    else if (mode === 'cookie' && call.type === 'mutation') checkOrigin(call.ctx);
    if (lacksFactor(call.ctx.server, access.identity) && !(await isAboutCaller(call, access.identity)))
      throw factorErrors.required();
    return { identity: access.identity, access };
  },
  {
    errors: [authenticationErrors, originErrors, keyErrors, factorErrors].flatMap((errors) => Object.values(errors)),
    isAuthentication: true,
  },
);

/** A procedure without authentication. */
export const publicProcedure = trpc.procedure.use(withoutAuthentication);

/**
 * A procedure that requires authentication and provides `ctx.identity` (spec, "Authentication"; decisions A1 to A3).
 */
export const authenticated = trpc.procedure.use(withAuthentication);

/**
 * Lets a public procedure know its caller: reads credentials that are given, and refuses wrong ones. It answers a key whose
 * scopes do not name it as anybody, and so a caller who lacks a factor that is required.
 * @param isNeeded whether this input's answer depends on the caller
 */
export function optionalCaller(isNeeded: (input: unknown) => boolean) {
  const middleware = trpc.middleware(async ({ ctx, path, type, meta = {}, input, next }) => {
    const mode = authModeOf({ ctx, path });
    const isGiven = isNeeded(input) && hasCredentials(ctx, mode);
    const identity = isGiven ? (await authenticateCall(ctx, mode)).identity : undefined;
    const isKnown =
      identity &&
      !lacksFactor(ctx.server, identity) &&
      mayAsk(identity, scopedProcedure(path, type, meta), ctx.server.keylessServices);
    return next({ ctx: { ...(isKnown && { identity }) } });
  });
  return withDeclaration(middleware, { errors: Object.values(authenticationErrors) });
}

/** The context of rules and handlers of an authenticated procedure. */
export interface AuthenticatedContext extends RequestContext {
  identity: Identity;
  access: VerifiedAccess;
}
