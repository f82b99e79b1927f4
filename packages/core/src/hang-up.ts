import type { Duplex } from 'node:stream';

/** How long the peer may keep its side of the connection open, in milliseconds. */
const LINGER_MS = 5000;

/**
 * Ends a connection that the HTTP server no longer manages, after writing `words`. Without the limit, a client that
 * never closes its side would hold the connection as long as the process runs.
 */
export function hangUp(socket: Duplex, words = ''): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(words);
}
