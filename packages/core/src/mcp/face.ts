import { createMcpHandler } from '@modelcontextprotocol/server';
import type { AnyTRPCRouter } from '@trpc/server';
import { Router, type Request as ExpressRequest, type Response as ExpressResponse } from 'express';
import { isMalformed } from '../answer.js';
import { noteAnswered } from '../answered.js';
import { checkOrigin } from '../authentication.js';
import { createRequestContext, type RequestContext, type ServerFacts } from '../context.js';
import { describeError } from '../error-log.js';
import { ApiError, requestErrors } from '../errors.js';
import { operationsOf, serviceOf } from '../operation.js';
import { createBodyReader } from '../rest/body.js';
import { sendError } from '../rest/mount.js';
import { isExcessive } from './excessive-message.js';
import { createTools, type McpOptions } from './tools.js';

/** Headers that belong to the protocol. The SDK sees no others, credentials least of all. */
const PROTOCOL_HEADER = /^mcp-/;
/** Headers of answers that the SDK does not decide. */
const OURS = new Set(['cache-control', 'connection']);
const BOTH_TYPES = 'application/json, text/event-stream';

export interface McpFaceOptions extends McpOptions {
  /** Largest body, in bytes or a string such as `1mb`. */
  bodyLimit: string | number;
  /** Services that agents must not reach. */
  without: readonly string[];
}

/** The request as the SDK takes it. */
function webRequest({ headers }: ExpressRequest, ctx: RequestContext): Request {
  const { accept = '*/*' } = headers;
  const given = Object.entries(headers).filter(([name, value]) => PROTOCOL_HEADER.test(name) && typeof value === 'string');
  const left = new AbortController();
  ctx.departures.add(() => left.abort());
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      ...(Object.fromEntries(given) as Record<string, string>),
      'content-type': 'application/json',
      accept: accept.includes('*/*') ? BOTH_TYPES : accept,
    },
    signal: left.signal,
  });
}

/** A refusal of a message that the SDK would work on. */
function invalidRequest(why: string): Response {
  const error = { code: -32600, message: `Invalid Request: ${why}` };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}

/** Sends an answer as a whole, event streams too: they end with the one message that they are for. */
async function send(answer: Response, res: ExpressResponse): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  res.status(answer.status);
  for (const [name, value] of answer.headers) if (!OURS.has(name)) res.setHeader(name, value);
  res.end(body);
}

/**
 * The MCP face: `POST /mcp`, stateless, for protocol versions 2026-07-28 and 2025-11-25 and older. Its tools find,
 * describe and call the router's operations (decisions E5). Callers send access tokens as bearer, whatever the mode of
 * a service; cookies are ignored.
 */
export function createMcpFace(router: AnyTRPCRouter, server: ServerFacts, options: McpFaceOptions): Router {
  const operations = operationsOf(router).filter(({ name }) => !options.without.includes(serviceOf(name)));
  const serverOf = createTools(operations, options);
  const readBody = createBodyReader(options.bodyLimit);
  const facts: ServerFacts = { ...server, authModeOf: () => 'bearer' };

  function contextOf(req: ExpressRequest, res: ExpressResponse): RequestContext {
    const ctx = createRequestContext(facts, req, res);
    // the HTTP answer is that of the protocol, not of the operation
    return { ...ctx, cookies: {}, setCookie() {}, clearCookie() {}, setHeader() {}, appendHeader() {} };
  }

  /** The body's JSON; undefined where there is none, which the SDK answers. @throws ApiError and errors of the parser */
  async function messageOf(ctx: RequestContext, req: ExpressRequest, res: ExpressResponse): Promise<unknown> {
    checkOrigin(ctx);
    await server.bodyTurn?.(ctx);
    return readBody(req, res).catch((error: unknown) => {
      if (isMalformed(error)) return undefined;
      throw error;
    });
  }

  async function answer(req: ExpressRequest, ctx: RequestContext, message: unknown): Promise<Response> {
    // each call of a batch would cost an operation, and current versions of the protocol have none
    if (Array.isArray(message)) return invalidRequest('send one message at a time');
    if (isExcessive(message)) return invalidRequest('more than any message of the protocol has');
    let failure: unknown;
    const tools = () => serverOf(ctx, (operation, status) => noteAnswered(req, { operation, status }));
    const { fetch } = createMcpHandler(tools, { onerror: (error) => (failure = error) });
    const response = await fetch(webRequest(req, ctx), { parsedBody: message });
    if (response.status >= 500)
      server.log.error({ err: describeError(failure), requestId: ctx.requestId }, 'unexpected failure of the MCP face');
    return response;
  }

  const face = Router({ caseSensitive: true });
  face.post('/mcp', async (req, res, next) => {
    res.setHeader('cache-control', 'no-store');
    try {
      const ctx = contextOf(req, res);
      await send(await answer(req, ctx, await messageOf(ctx, req, res)), res);
    } catch (error) {
      if (error instanceof ApiError) sendError(error, res, server);
      else next(error);
    }
  });
  face.all('/mcp', (_req, res) => sendError(requestErrors.wrongMethod(), res.set('allow', 'POST'), server));
  return face;
}
