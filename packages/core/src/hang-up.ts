import type { Duplex } from 'node:stream';

/** For how long the other end may keep its side of the connection open, in milliseconds. */
const LINGER_MS = 5000;

/**
 * Ends a connection that the HTTP server does not look after any more, with the last words to say on it. Without a limit, a client that never
 * closes its side would hold the connection for as long as the process runs.
 */
export function hangUp(socket: Duplex, words = ''): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(words);
}
