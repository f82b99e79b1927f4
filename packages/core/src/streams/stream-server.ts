import type { EventEmitter } from 'node:events';
import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
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
import { createFrameReader } from './stream-handler.js';
import { StreamSocket, type StreamCounts, type StreamHandler } from './stream-socket.js';

/** Largest client frame, in bytes: bounds the memory of a connection (decisions S5). */
const FRAME_MAX = 64 * 1024;
const HEARTBEAT_MS = 30_000;
/** How long a client may take to acknowledge a close, in milliseconds. */
const CLOSE_MS = 5000;

/**
 * Close codes counted one by one: ours, and those of a client that leaves, of one that vanished, and of a close without
 * a code (RFC 6455, 7.4.1).
 */
const CLOSE_CODES: ReadonlySet<number> = new Set([...Object.values(CLOSE).map(([code]) => code), 1000, 1001, 1005, 1006, 1009]);

/** A request to open a stream, before it is answered. */
export interface Handshake {
  ctx: RequestContext;
  /** The query's pairs, in order, repeated ones included. */
  query: URLSearchParams;
}

/**
 * Assigns a stream to an identity; a previous holder is released.
 * @throws requestErrors.tooMany when the identity has too many, leaving the stream as it was
 */
export type Claim = (socket: StreamSocket, identityId: string) => void;

/** The result of an accepted handshake. */
export interface Opening {
  /** The caller's access; undefined where each call brings its own credentials. */
  access?: VerifiedAccess;
  /** Undefined where something else reads the frames. */
  handler?: StreamHandler;
  /** Called with the open socket. Must not throw. */
  begin(socket: StreamSocket, req: IncomingMessage, claim: Claim): void;
}

/** One kind of stream, at one path. */
export interface Stream {
  path: `/${string}`;
  /** Whether ordinary requests to the path belong to another route. */
  isShared?: boolean;
  /**
   * Authentication, rules, validation, in this order. @throws ApiError to refuse; the client gets an ordinary HTTP
   * answer instead of 101 (decisions S1)
   */
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

const asksForWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket';

/** Whether it is an opening handshake of RFC 6455; `ws` would answer a wrong one with texts of its own. */
function isHandshake(req: IncomingMessage): boolean {
  const { headers } = req;
  return (
    asksForWebSocket(req) &&
    headers['sec-websocket-version'] === '13' &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? '')
  );
}

/**
 * Lets a server read a request again, without its wish for another protocol, which may be ignored (RFC 9110, 7.8): Node has
 * taken it from the parser before its body was read. Java's client asks for HTTP/2 with every request that is not encrypted.
 */
function readAgain(
  server: Server,
  { method, url, httpVersion, rawHeaders }: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}

function ignoreError(): void {
  // a broken connection is closed as well, and close is handled
}

/**
 * Opens streams and provides what all kinds share: refusals before 101 like those of any request, heartbeat, limits,
 * close codes, and closing when the session ends.
 */
export function createStreamServer(
  server: ServerFacts,
  { watch, heartbeatMs = HEARTBEAT_MS }: { watch: AccessWatch; heartbeatMs?: number | undefined },
) {
  const receive = createFrameReader(server);
  const { places } = server;
  const sockets = new Set<StreamSocket>();
  const totals: StreamCounts = { received: 0, sent: 0, closed: new Map() };
  /** Bytes received after the head of each upgrade request. */
  const heads = new WeakMap<IncomingMessage, Buffer>();
  let timer: NodeJS.Timeout | undefined;
  let closing: { promise: Promise<void>; resolve: () => void } | undefined;

  const webSockets = new WebSocketServer<typeof StreamSocket>(SETTINGS);
  webSockets.on('headers', (headers, req: IncomingMessage & { id?: unknown }) => {
    if (typeof req.id === 'string') headers.push(`x-request-id: ${req.id}`);
  });

  // one function per server, not per socket: idle sockets must stay small
  function onMessage(this: StreamSocket, data: Buffer, isBinary: boolean): void {
    this.isAlive = true;
    totals.received += 1;
    countFrame(this, data.length, places);
    if (this.handler && this.readyState === StreamSocket.OPEN) receive(this, this.handler, data, isBinary);
  }
  function onPing(this: StreamSocket): void {
    this.isAlive = true;
    countFrame(this, 0, places);
  }
  function onPong(this: StreamSocket): void {
    this.isAlive = true;
  }
  function onClose(this: StreamSocket, code: number): void {
    sockets.delete(this);
    const counted = CLOSE_CODES.has(code) ? code : 0;
    totals.closed.set(counted, (totals.closed.get(counted) ?? 0) + 1);
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

  /** Answers 101. @throws ApiError when it cannot */
  function accept(req: Request, res: Response, opening: Opening, holder: string): void {
    const head = heads.get(req);
    if (!head || !isHandshake(req)) throw validationError(['request must be a WebSocket handshake of version 13']);
    if (closing) throw requestErrors.unavailable({ retryAfter: 1 });
    places.checkConnection(holder);
    const { socket } = req;
    res.statusCode = 101;
    res.detachSocket(socket);
    // for listeners that wait for the end of the answer, such as the log
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
    /** Streams open now, and totals of all so far: frames, and closes by code. */
    state: (): Readonly<StreamCounts> & { open: number } => ({ ...totals, open: sockets.size }),

    /** Routes of the streams, placed before all others: an upgrade anywhere else gets 404. */
    routes(streams: readonly Stream[]): RequestHandler[] {
      const routes = Router({ caseSensitive: true, strict: true });
      for (const stream of streams) routes.get(stream.path, handlerOf(stream));
      // beside the router: one whose last layer passes a request on lets it wait for a turn of the event loop
      const refuseOthers: RequestHandler = (req, _res, next) => {
        if (heads.has(req) && asksForWebSocket(req)) throw requestErrors.noSuchRoute();
        next();
      };
      return [routes, refuseOthers];
    },

    /**
     * Handles `upgrade` events of an HTTP server. The request passes through `app` like any other, up to the routes
     * above; one for a protocol other than WebSocket comes again as an ordinary one.
     */
    handleUpgrades(app: (req: IncomingMessage, res: ServerResponse) => unknown) {
      return function handleUpgrade(this: Server | void, req: IncomingMessage, socket: Duplex, head: Buffer): void {
        const res = new ServerResponse(req);
        try {
          res.assignSocket(socket as Socket);
        } catch {
          // another request's answer is still on its way: nobody may send more before it
          return void socket.destroy();
        }
        if (this && !asksForWebSocket(req)) {
          res.detachSocket(socket as Socket);
          return readAgain(this, req, socket, head);
        }
        heads.set(req, head);
        res.shouldKeepAlive = false;
        res.once('finish', () => {
          if (res.socket) res.detachSocket(socket as Socket);
          hangUp(socket);
        });
        socket.on('error', ignoreError);
        app(req, res);
      };
    },

    /** Closes every stream, so that clients reconnect to another instance, and waits until all are closed. */
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
