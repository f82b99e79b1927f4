import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { requestErrors, toEnvelope } from '@tandem/core';
import { REQUEST_ID_HEADER } from './observation.js';

/** What a server answers that listens, but whose database is not ready yet. */
export function answerStarting(res: ServerResponse): void {
  const { status, body } = toEnvelope(requestErrors.unavailable(), false);
  res.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1', [REQUEST_ID_HEADER]: randomUUID() });
  res.end(JSON.stringify(body));
}

/** The statuses for what Node's parser refuses before there is a request; anything else is 400. */
const CLIENT_ERRORS: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers bytes that are no request, headers that are too long, or a request that came too slowly, in the envelope too. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const status = CLIENT_ERRORS[error.code ?? ''] ?? 400;
  const text = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ error: { message: text } });
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${REQUEST_ID_HEADER}: ${randomUUID()}\r\n\r\n${body}`,
  );
}
