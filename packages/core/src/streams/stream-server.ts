import type { EventEmitter } from 'node:events';
import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { WebSocketServer, type ServerOptions } from 'ws';
import { addressGroup } from '../address-group.js';
import { createRequestContext, type RequestContext, type ServerFacts, type VerifiedAccess } from '../context.js';
import { requestErrors, validationError } from '../errors.js';
import { hangUp } from '../hang-up.js';
import type { AccessWatch } from './access-watch.js';
import { CLOSE } from './close-codes.js';
import { countFrame } from './pace.js';
import { createFrameReader, type StreamHandler } from './stream-handler.js';
import { StreamSocket, type StreamCounts } from './stream-socket.js';

/** Largest frame of a client, in bytes (decisions S5). */
const FRAME_MAX = 64 * 1024;
const HEARTBEAT_MS = 30_000;
/** For how long a client may take to agree that a stream is closed, in milliseconds. */
const CLOSE_MS = 5000;

/** Codes that are counted one by one: ours, and those of a client that leaves, of one that is gone, and of no code at all (RFC 6455, 7.4.1). */
const CLOSE_CODES: ReadonlySet<number> = new Set([...Object.values(CLOSE).map(([code]) => code), 1000, 1001, 1005, 1006, 1009]);

/** A request to open a stream, before it is answered. */
export interface Handshake {
  ctx: RequestContext;
  /** The query's pairs, in order, repeated ones included. */
  query: URLSearchParams;
}

/**
 * Makes a stream that of an identity, whoever had it before.
 * @throws requestErrors.tooMany when that has too many, and the stream is left as it was
 */
export type Claim = (socket: StreamSocket, identityId: string) => void;

/** What a handshake that was not refused leads to. */
export interface Opening {
  /** Whose the stream is; undefined where each call brings its own credentials. */
  access?: VerifiedAccess;
  /** Undefined where something else reads the frames. */
  handler?: StreamHandler;
  /** Called with the open socket. Must not throw. */
  begin(socket: StreamSocket, req: IncomingMessage, claim: Claim): void;
}

/** One kind of stream, at one path. */
export interface Stream {
  path: `/${string}`;
  /** Whether ordinary requests to the path are somebody else's. */
  isShared?: boolean;
  /** Authentication, rules, validation, in this order. @throws ApiError to refuse, which is answered as every request is (decisions S1) */
  open(handshake: Handshake): Promise<Opening>;
}

const SETTINGS: ServerOptions<typeof StreamSocket> & { closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  maxPayload: FRAME_MAX,
  perMessageDeflate: false,
  closeTimeout: CLOSE_MS,
  WebSocket: StreamSocket,
};

export type StreamServer = ReturnType<typeof createStreamServer>;

/** Whether it is the opening handshake of RFC 6455, which `ws` would answer in words of its own. */
function isHandshake({ headers }: IncomingMessage): boolean {
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

function ignoreError(): void {
  // a connection that breaks is closed as well, which is what counts
}

/**
 * Opens streams, and keeps what all kinds of them have in common: refusals before 101 as of every other request, heartbeat, limits, close
 * codes, and an end when the session ends.
 */
export function createStreamServer(
  server: ServerFacts,
  { watch, heartbeatMs = HEARTBEAT_MS }: { watch: AccessWatch; heartbeatMs?: number | undefined },
) {
  const receive = createFrameReader(server);
  const { places } = server;
  const sockets = new Set<StreamSocket>();
  const totals: StreamCounts = { received: 0, sent: 0, closed: new Map() };
  /** What came after the head of each request that wants a stream. */
  const heads = new WeakMap<IncomingMessage, Buffer>();
  let timer: NodeJS.Timeout | undefined;
  let closing: { promise: Promise<void>; resolve: () => void } | undefined;

  const webSockets = new WebSocketServer<typeof StreamSocket>(SETTINGS);
  webSockets.on('headers', (headers, req: IncomingMessage & { id?: unknown }) => {
    if (typeof req.id === 'string') headers.push(`x-request-id: ${req.id}`);
  });

  // functions of the server and not of each socket: idle ones are to cost little
  function onMessage(this: StreamSocket, data: Buffer, isBinary: boolean): void {
    this.isAlive = true;
    totals.received += 1;
    if (this.handler) receive(this, this.handler, data, isBinary);
    else countFrame(this);
  }
  function onPing(this: StreamSocket): void {
    this.isAlive = true;
    countFrame(this);
  }
  function onPong(this: StreamSocket): void {
    this.isAlive = true;
  }
  function onClose(this: StreamSocket, code: number): void {
    sockets.delete(this);
    const known = CLOSE_CODES.has(code) ? code : 0;
    totals.closed.set(known, (totals.closed.get(known) ?? 0) + 1);
    watch.remove(this);
    this.handler?.closed(this);
    places.close(this);
    if (sockets.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    closing?.resolve();
  }

  function claim(socket: StreamSocket, identityId: string): void {
    if (!sockets.has(socket)) return;
    places.open(socket, identityId);
    socket.isKept = true;
  }

  function beat(): void {
    for (const socket of sockets) {
      if (!socket.isAlive) socket.terminate();
      else if (!socket.isKept && !socket.isUsed && socket.pending === 0) socket.end('unused');
      else if (socket.readyState === StreamSocket.OPEN) {
        socket.isAlive = socket.isUsed = false;
        socket.ping();
      }
    }
  }

  function take(socket: StreamSocket, { access, handler }: Opening, holder: string): void {
    socket.access = access;
    socket.handler = handler;
    socket.isKept = access !== undefined;
    socket.counts = totals;
    sockets.add(socket);
    places.open(socket, holder);
    const events: EventEmitter = socket;
    events.on('message', onMessage).on('ping', onPing).on('pong', onPong).on('close', onClose).on('error', ignoreError);
    if (access) watch.add(socket as StreamSocket & { access: VerifiedAccess });
    timer ??= setInterval(beat, heartbeatMs).unref();
  }

  /** Answers 101. @throws ApiError when it cannot be */
  function accept(req: Request, res: Response, opening: Opening, holder: string): void {
    const head = heads.get(req);
    if (!head || !isHandshake(req)) throw validationError(['request must be a WebSocket handshake of version 13']);
    if (closing) throw requestErrors.unavailable({ retryAfter: 1 });
    places.checkConnection(holder);
    const { socket } = req;
    res.statusCode = 101;
    res.detachSocket(socket);
    // for whoever waits for the answer's end, as the log does
    res.emit('close');
    socket.off('error', ignoreError);
    webSockets.handleUpgrade(req, socket, head, (opened) => {
      take(opened, opening, holder);
      opening.begin(opened, req, claim);
    });
  }

  function handlerOf(stream: Stream): RequestHandler {
    return async (req, res, next) => {
      if (stream.isShared && !heads.has(req)) return next();
      res.setHeader('cache-control', 'no-store');
      const start = req.url.indexOf('?');
      const query = new URLSearchParams(start < 0 ? '' : req.url.slice(start));
      const ctx = createRequestContext(server, req, res);
      const opening = await stream.open({ ctx, query });
      accept(req, res, opening, opening.access?.identity.id ?? addressGroup(ctx.ip));
    };
  }

  return {
    /** Streams that are open, and what has gone through all there were: frames, and ends by their code. */
    state: (): Readonly<StreamCounts> & { open: number } => ({ ...totals, open: sockets.size }),

    /** The streams' paths, before all other routes: what wants a stream anywhere else is 404. Expects `cookie-parser`. */
    routes(streams: readonly Stream[]): Router {
      const routes = Router({ caseSensitive: true, strict: true });
      for (const stream of streams) routes.get(stream.path, handlerOf(stream));
      routes.use((req, _res, next) => {
        if (heads.has(req) && req.headers.upgrade?.toLowerCase() === 'websocket') throw requestErrors.noSuchRoute();
        next();
      });
      return routes;
    },

    /**
     * For `upgrade` events of an HTTP server. The request goes through `app` as every other one, up to the routes above; what asks for
     * another protocol than a WebSocket is answered as if it had not asked.
     */
    handleUpgrades(app: (req: IncomingMessage, res: ServerResponse) => unknown) {
      return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
        heads.set(req, head);
        const res = new ServerResponse(req);
        res.shouldKeepAlive = false;
        res.once('finish', () => {
          if (res.socket) res.detachSocket(socket as Socket);
          hangUp(socket);
        });
        socket.on('error', ignoreError);
        res.assignSocket(socket as Socket);
        app(req, res);
      };
    },

    /** Closes every stream, so that clients come back to another instance, and waits until they are closed. */
    close(): Promise<void> {
      if (closing) return closing.promise;
      let resolve = () => {};
      const promise = new Promise<void>((done) => (resolve = done));
      closing = { promise, resolve };
      for (const socket of sockets) socket.end('restart');
      if (sockets.size === 0) resolve();
      return promise;
    },
  };
}
