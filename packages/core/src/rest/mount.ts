import type { AnyTRPCRouter } from '@trpc/server';
import { Router, type ErrorRequestHandler, type IRouter, type Request, type RequestHandler, type Response } from 'express';
import { toEnvelope } from '../answer.js';
import { createRequestContext, type ServerFacts } from '../context.js';
import { describeError } from '../error-log.js';
import { ApiError, requestErrors, unexpectedError } from '../errors.js';
import { operationsOf, type Operation } from '../operation.js';
import { callProcedure } from './call-procedure.js';
import { createInputReader } from './input.js';

/** The output of a procedure whose status is 302. */
interface Redirect {
  /** An absolute URL, percent-encoded as `URL` writes it. */
  location: string;
}

/** Answers with the error's status and envelope; cuts the connection if the answer has begun. */
export function sendError(error: unknown, res: Response, server: ServerFacts): void {
  if (res.headersSent) return void res.destroy();
  const { status, headers, body } = toEnvelope(error, server.development);
  res.set(headers);
  // the rest of a body that is too large is not read
  if (status === 413) res.set('connection', 'close');
  // names the accepted type (RFC 9110, 15.5.16), unless the route has named its own
  if (status === 415 && !res.hasHeader('accept')) res.set('accept', 'application/json');
  res.status(status).json(body);
}

/** Like `res.json` without its per-answer look-ups and parsing; head and body go out in one write. */
function sendJson(res: Response, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  res.statusCode = status;
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text);
}

/**
 * Whether an answer shows a file, or a person's picture: its address ends sooner or later, without a change of the
 * record.
 */
function showsFile(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, url, avatarUrl } = value as { type?: unknown; url?: unknown; avatarUrl?: unknown };
  const isFile = typeof type === 'string' && typeof url === 'string';
  return isFile || typeof avatarUrl === 'string' || Object.values(value).some(showsFile);
}

/** Whether the caller knows what is answered (`If-None-Match`). */
function isKnown({ method, headers }: Request, res: Response, output: unknown): boolean {
  const known = headers['if-none-match'];
  const tag = known === undefined ? undefined : res.getHeader('etag');
  if (typeof tag !== 'string' || (method !== 'GET' && method !== 'HEAD')) return false;
  const isOne = known?.trim() === '*' || known?.split(',').some((one) => one.trim().replace(/^W\//, '') === tag) === true;
  return isOne && !showsFile(output);
}

function sendOutput({ status, options }: Operation, output: unknown, req: Request, res: Response): void {
  if (options.mayBeUnchanged && isKnown(req, res, output)) return void res.status(304).end();
  if (output === undefined) return void res.status(204).end();
  if (status === 302)
    return void res
      .status(302)
      .setHeader('location', (output as Redirect).location)
      .end();
  sendJson(res, status, output);
}

function handlerOf(
  operation: Operation,
  server: ServerFacts,
  readInput: ReturnType<typeof createInputReader>,
): RequestHandler<Record<string, string>> {
  const { name: path, procedure } = operation;
  const { type } = procedure._def;
  return async (req, res, next) => {
    // tokens and personal data: caches must not keep them
    res.setHeader('cache-control', 'no-store');
    try {
      const ctx = createRequestContext(server, req, res);
      const input = readInput(operation, ctx, req, res);
      ctx.rest = { params: req.params, readInput: input.peek };
      // as tRPC's own adapters do: the input middleware reads the input, after the rules
      const output = await callProcedure(procedure, {
        ctx,
        path,
        type,
        getRawInput: input.read,
        signal: undefined,
        batchIndex: 0,
      });
      sendOutput(operation, output, req, res);
    } catch (error) {
      // procedures translate and log their failures; anything else goes to the last error middleware
      if (error instanceof ApiError) sendError(error, res, server);
      else next(error);
    }
  };
}

/** The first word of a path: `/notifications/{notificationId}/read` gives `notifications`. */
function firstWord(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/** @throws TypeError for a path parameter that the input does not have: every request would fail its validation */
function checkPath({ name, method, path, pathKeys, textKinds }: Operation): void {
  const missing = pathKeys.find((key) => !Object.hasOwn(textKinds, key));
  if (missing !== undefined)
    throw new TypeError(`${name}: the input has no key "${missing}" for the path parameter of ${method} ${path}`);
}

/**
 * Mounts each procedure with a REST route as a native Express route. Express tries routes in order, so routes are
 * grouped by their first word and a request only tries those of its group.
 * @param bodyLimit for JSON bodies, in bytes or a string such as `1mb`
 * @throws TypeError for a path parameter that its procedure's input does not have
 */
export function mountRest(app: IRouter, router: AnyTRPCRouter, server: ServerFacts, bodyLimit: string | number): void {
  const readInput = createInputReader(server, bodyLimit);
  const groups = new Map<string, Router>();
  for (const operation of operationsOf(router)) {
    checkPath(operation);
    const word = firstWord(operation.path);
    const group = groups.get(word) ?? Router({ caseSensitive: true });
    groups.set(word, group);
    const method = operation.method.toLowerCase() as 'get' | 'post' | 'put' | 'patch' | 'delete';
    group[method](operation.path.replace(/\{(\w+)\}/g, ':$1'), handlerOf(operation, server, readInput));
  }
  app.use((req, res, next) => {
    const group = groups.get(firstWord(req.path));
    if (group) group(req, res, next);
    else next();
  });
}

/**
 * Middlewares for the end of the chain: 404 for an unknown route, and the envelope for every error (spec, "Envelope").
 * A host application adds them after its own routes.
 */
export function createErrorMiddlewares(server: ServerFacts): [RequestHandler, ErrorRequestHandler] {
  return [
    (_req, res) => sendError(requestErrors.noSuchRoute(), res, server),
    // Express recognizes an error handler by its four parameters
    (error: unknown, req: Request & { id?: unknown }, res: Response, _next) => {
      const isUnavailable = !(error instanceof ApiError) && server.isUnavailable(error);
      const shown = isUnavailable ? unexpectedError(requestErrors.unavailable.message, { isUnavailable, cause: error }) : error;
      const { status } = toEnvelope(shown, false);
      if (status >= 500)
        server.log.error({ err: describeError(error), requestId: req.id }, 'unexpected failure outside the procedures');
      sendError(shown, res, server);
    },
  ];
}
