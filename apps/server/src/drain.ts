import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { answerStarting } from './outside-express.js';

/** How often idle connections are closed, in milliseconds. */
const IDLE_SWEEP_MS = 20;
/**
 * Event loop turns after the last new connection in which all data already sent is read. One turn accepts one
 * connection.
 */
const READING_TURNS = 3;
/** Connections that the system queues until they are accepted, Node's default: a later one has come after the stop. */
const BACKLOG = 511;

/**
 * Stops an HTTP server so that every request sent before the stop is answered (decisions H19). Create it before the
 * server's other listeners.
 */
export function createDrain(server: Server, { delayMs, limitMs }: { delayMs: number; limitMs: number }) {
  const sockets = new Set<Socket>();
  /** Open answers by connection, in the order of their requests. */
  const answers = new Map<Socket, Set<ServerResponse>>();
  let isStopping = false;

  server.on('connection', (socket: Socket) => {
    // comes again with a request that asked for another protocol
    if (sockets.has(socket)) return;
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

  /**
   * Lets only the last answer of a connection close it: otherwise pipelined requests after it would stay unanswered.
   */
  function sayLast(own: Set<ServerResponse>): void {
    const all = [...own];
    for (const [at, res] of all.entries()) res.shouldKeepAlive = at < all.length - 1;
  }

  /** Answers 503 to all requests whose answer has not begun. */
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
    /**
     * From now on each connection closes with its next answer. Waits until the delay is over and everything sent by
     * then has been read.
     */
    async delay(): Promise<void> {
      isStopping = true;
      for (const own of answers.values()) sayLast(own);
      if (!server.listening) return;
      if (delayMs > 0) await wait(delayMs);
      await readAll();
    },

    /** Stops listening, and waits for open answers. Idle connections are closed. */
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
        // a client that connected and sent nothing would hold up the end
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      });
    },
  };
}
