import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { hangUp, requestErrors, toEnvelope, type ApiError } from '@tandem/core';
import { REQUEST_ID_HEADER } from './observation.js';

/** The answer of a server that listens while its database is not ready. */
export function answerStarting(res: ServerResponse): void {
  refuse(res, requestErrors.unavailable({ retryAfter: 1 }));
}

function refuse(res: ServerResponse, error: ApiError, more: Record<string, string> = {}): void {
  const { status, headers, body } = toEnvelope(error, false);
  res.writeHead(status, { 'content-type': 'application/json', ...headers, ...more, [REQUEST_ID_HEADER]: randomUUID() });
  res.end(JSON.stringify(body));
}

/** What errors of Node's parser mean; all others are malformed requests. */
const CLIENT_ERRORS: Readonly<Record<string, () => ApiError>> = {
  HPE_HEADER_OVERFLOW: requestErrors.headTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: requestErrors.tooSlow,
};

/** Answers malformed requests, oversized headers and slow requests with the error envelope too. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal = (CLIENT_ERRORS[error.code ?? ''] ?? requestErrors.malformed)();
  const { status, headers, body } = toEnvelope(refusal, false);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
    [REQUEST_ID_HEADER]: randomUUID(),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  hangUp(socket, `HTTP/1.1 ${status} ${refusal.message}\r\n${lines.join('')}\r\n${text}`);
}

/** Refuses a request of HTTP/1.1 that names no host (RFC 9112). @returns whether it did */
export function refuseWithoutHost({ headers, httpVersion }: IncomingMessage, res: ServerResponse): boolean {
  const isRefused = headers.host === undefined && httpVersion === '1.1';
  if (isRefused) refuse(res, requestErrors.malformed(), { connection: 'close' });
  return isRefused;
}

/**
 * Cuts off a request with a slow body, whose time counts from when it is read. Node's own limit is the same for all
 * requests, and files take longer.
 * @param limitMs for bodies other than files, in milliseconds
 */
export function limitArrival(req: IncomingMessage, res: ServerResponse, limitMs: number): void {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (!hasBody || req.url?.startsWith('/files/')) return;
  const timer = setTimeout(() => {
    // where nobody reads it yet, it is the server that is slow, and its deadline answers
    const isUnread = req.readableFlowing === null && !res.headersSent;
    if (req.complete || isUnread) return;
    if (res.headersSent) req.socket.destroy();
    else {
      // for the log: the answer bypasses `res`
      res.statusCode = 408;
      answerClientError(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), req.socket);
    }
  }, limitMs).unref();
  req.once('resume', () => timer.refresh());
  res.once('close', () => clearTimeout(timer));
}
