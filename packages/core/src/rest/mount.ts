import type { AnyTRPCRouter } from '@trpc/server';
import { Router, type ErrorRequestHandler, type IRouter, type Request, type RequestHandler, type Response } from 'express';
import { toEnvelope } from '../answer.js';
import { createRequestContext, type RequestContext, type ServerFacts } from '../context.js';
import { describeError } from '../error-log.js';
import { ApiError, requestErrors } from '../errors.js';
import { operationsOf, type Operation } from '../operation.js';
import { createInputReader } from './input.js';

/** How a procedure is called by an adapter. */
interface ProcedureCall {
  ctx: RequestContext;
  path: string;
  type: string;
  getRawInput: () => Promise<unknown>;
  signal: AbortSignal | undefined;
  batchIndex: number;
}

/** The output of a procedure whose status is 302. */
interface Redirect {
  /** An absolute address, percent-encoded as `URL` writes it. */
  location: string;
}

/** Answers with the error's status and envelope; a connection whose answer has begun is cut instead. */
function sendError(error: unknown, res: Response, server: ServerFacts): void {
  if (res.headersSent) return void res.destroy();
  const { status, retryAfter, body } = toEnvelope(error, server.development);
  if (retryAfter !== undefined) res.set('retry-after', String(retryAfter));
  // the rest of a body that is too big is not read
  if (status === 413) res.set('connection', 'close');
  res.status(status).json(body);
}

/** As `res.json` answers, without what it looks up and parses for each answer; head and body leave in one write. */
function sendJson(res: Response, status: number, value: unknown): void {
  const text = JSON.stringify(value);
  res.statusCode = status;
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('content-length', Buffer.byteLength(text));
  res.end(text);
}

function sendOutput({ status }: Operation, output: unknown, res: Response): void {
  if (output === undefined) return void res.status(204).end();
  if (status === 302)
    return void res
      .status(302)
      .setHeader('location', (output as Redirect).location)
      .end();
  sendJson(res, status, output);
}

function handlerOf(operation: Operation, server: ServerFacts, readInput: ReturnType<typeof createInputReader>): RequestHandler {
  const call = operation.procedure as unknown as (call: ProcedureCall) => Promise<unknown>;
  const { type } = operation.procedure._def;
  return async (req, res, next) => {
    // tokens and personal data: no cache between keeps them
    res.setHeader('cache-control', 'no-store');
    try {
      const ctx = createRequestContext(server, req, res);
      const params = req.params as Record<string, string>;
      const input = readInput(operation, params, req, res);
      const inTurn = (read: () => Promise<unknown>) => async () => {
        if (operation.hasBody) await server.bodyTurn?.(ctx);
        return read();
      };
      ctx.rest = { params, readInput: inTurn(input.peek) };
      // as tRPC's own adapters call: the input is read when the input middleware asks for it, after the rules
      const output = await call({
        ctx,
        path: operation.name,
        type,
        getRawInput: inTurn(input.read),
        signal: undefined,
        batchIndex: 0,
      });
      sendOutput(operation, output, res);
    } catch (error) {
      // procedures translate and log their failures; anything else is for the last error middleware
      if (error instanceof ApiError) sendError(error, res, server);
      else next(error);
    }
  };
}

/** The first word of a path: `/notifications/{notificationId}/read` gives `notifications`. */
function firstWord(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/**
 * Mounts each procedure that has a REST route as a native Express route. Express tries routes one after the other: those of one first word
 * are together, and only they are tried, so that a request does not pay for every service there is.
 * @param bodyLimit of JSON bodies, in bytes or in words such as `1mb`
 */
export function mountRest(app: IRouter, router: AnyTRPCRouter, server: ServerFacts, bodyLimit: string | number): void {
  const readInput = createInputReader(bodyLimit, server.inputLimits);
  const groups = new Map<string, Router>();
  for (const operation of operationsOf(router)) {
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
 * What comes after all routes: 404 for what no route took, and the envelope for every error on the way (spec, "Envelope").
 * A host application adds these after its own routes.
 */
export function createErrorMiddlewares(server: ServerFacts): [RequestHandler, ErrorRequestHandler] {
  return [
    (_req, res) => sendError(requestErrors.noSuchRoute(), res, server),
    // Express knows an error handler by its four parameters
    (error: unknown, req: Request & { id?: unknown }, res: Response, _next) => {
      const { status } = toEnvelope(error, false);
      if (status >= 500)
        server.log.error({ err: describeError(error), requestId: req.id }, 'unexpected failure outside the procedures');
      sendError(error, res, server);
    },
  ];
}
