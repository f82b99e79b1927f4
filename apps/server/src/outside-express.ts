import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { hangUp, requestErrors, toEnvelope } from '@tandem/core';
import { REQUEST_ID_HEADER } from './observation.js';

/** The answer of a server that listens while its database is not ready. */
export function answerStarting(res: ServerResponse): void {
  const { status, body } = toEnvelope(requestErrors.unavailable(), false);
  res.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1', [REQUEST_ID_HEADER]: randomUUID() });
  res.end(JSON.stringify(body));
}

/** Statuses for errors of Node's parser; all others are 400. */
const CLIENT_ERRORS: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers malformed requests, oversized headers and slow requests with the error envelope too. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = CLIENT_ERRORS[error.code ?? ''] ?? 400;
  const text = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ error: { message: text } });
  hangUp(
    socket,
    `HTTP/1.1 ${status} ${text}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${REQUEST_ID_HEADER}: ${randomUUID()}\r\n\r\n${body}`,
  );
}

/**
 * Cuts off a request with a slow body. Node's own limit is the same for all requests, and files take longer.
 * @param limitMs for bodies other than files, in milliseconds
 */
export function limitArrival(req: IncomingMessage, res: ServerResponse, limitMs: number): void {
  const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (!hasBody || req.url?.startsWith('/files/')) return;
  const timer = setTimeout(() => {
    if (req.complete) return;
    if (res.headersSent) req.socket.destroy();
    else {
      // for the log: the answer bypasses `res`
      res.statusCode = 408;
      answerClientError(Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), req.socket);
    }
  }, limitMs).unref();
  res.once('close', () => clearTimeout(timer));
}
