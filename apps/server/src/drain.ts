import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { answerStarting } from './outside-express.js';

/** How often connections that have become idle are closed, in milliseconds. */
const IDLE_SWEEP_MS = 20;
/** Turns of the event loop behind the last new connection, in which all that it had sent is read. A turn takes in one connection. */
const READING_TURNS = 3;
/** Connections that the system keeps until they are taken in, by Node's default: others have come later. */
const BACKLOG = 511;

/**
 * Stops an HTTP server so that no request which was sent before is left without an answer (decisions H19). Make it before the server's other
 * listeners.
 */
export function createDrain(server: Server, { delayMs, limitMs }: { delayMs: number; limitMs: number }) {
  const sockets = new Set<Socket>();
  /** Answers under way by connection, in the order of their requests. */
  const answers = new Map<Socket, Set<ServerResponse>>();
  let isStopping = false;

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, res: ServerResponse) => {
    const own = answers.get(socket) ?? new Set();
    answers.set(socket, own.add(res));
    res.once('close', () => {
      own.delete(res);
      if (own.size === 0) answers.delete(socket);
    });
    if (isStopping) sayLast(own);
  });

  /** Of the answers of a connection the last one closes it: before it, requests that were sent together with others would stay without one. */
  function sayLast(own: Set<ServerResponse>): void {
    const all = [...own];
    for (const [at, res] of all.entries()) res.shouldKeepAlive = at < all.length - 1;
  }

  /** Answers that are late by now are 503, as far as they have not begun. */
  function giveUp(): void {
    for (const res of [...answers.values()].flatMap((own) => [...own])) if (!res.headersSent) answerStarting(res);
    setTimeout(() => server.closeAllConnections(), IDLE_SWEEP_MS);
  }

  async function readAll(): Promise<void> {
    let quietTurns = 0;
    const begin = () => (quietTurns = 0);
    server.on('connection', begin);
    for (let turn = 0; turn < BACKLOG + READING_TURNS && quietTurns < READING_TURNS; turn++) {
      quietTurns += 1;
      await setImmediate();
    }
    server.off('connection', begin);
  }

  return {
    /** From now on each connection is closed by its next answer. Waits until the delay is over, and all that was sent by then is read. */
    async delay(): Promise<void> {
      isStopping = true;
      for (const own of answers.values()) sayLast(own);
      if (!server.listening) return;
      if (delayMs > 0) await wait(delayMs);
      await readAll();
    },

    /** Ends the listening, and waits for the answers under way. Connections that nobody uses, or uses any more, are closed. */
    end(): Promise<void> {
      if (!server.listening) return Promise.resolve();
      return new Promise((resolve) => {
        const cut = setTimeout(giveUp, limitMs);
        const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
        // who has connected and sent nothing would be waited for
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      });
    },
  };
}
