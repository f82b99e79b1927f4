import type { Socket } from 'node:net';
import { getErrorShape, transformTRPCResponse, type AnyTRPCRouter } from '@trpc/server';
import { getWSConnectionHandler, jsonEncoder, type CreateWSSContextFnOptions, type Encoder } from '@trpc/server/adapters/ws';
import { ACCESS_COOKIE, FINGERPRINT_HEADER, checkOrigin } from '../authentication.js';
import type { CallWatch, RequestContext, VerifiedAccess } from '../context.js';
import { Departures } from '../leaving.js';
import type { AccessWatch, Watched } from '../streams/access-watch.js';
import { requestErrors, validationError, type ApiError } from '../errors.js';
import { countCalls, forgiveStop } from '../streams/pace.js';
import type { StreamPlaces } from '../streams/stream-places.js';
import type { Stream } from '../streams/stream-server.js';
import type { StreamSocket } from '../streams/stream-socket.js';
import { MAX_BATCH_SIZE } from './mount.js';

type ConnectionParams = CreateWSSContextFnOptions['info']['connectionParams'];

/** Without the server that the adapter would otherwise listen on. */
type HandlerOptions = Parameters<typeof getWSConnectionHandler<AnyTRPCRouter>>[0];

/** The headers that clients may send as connection parameters instead: browsers cannot set headers on a WebSocket. */
const CREDENTIAL_HEADERS = ['authorization', FINGERPRINT_HEADER];

/** The context of a connection's calls: its handshake, plus the credentials among the connection parameters. */
function contextOf(ctx: RequestContext, params: ConnectionParams, departures: Departures) {
  const given = Object.entries(params ?? {}).flatMap(([name, value]): [string, string][] =>
    CREDENTIAL_HEADERS.includes(name.toLowerCase()) && value !== undefined ? [[name.toLowerCase(), value]] : [],
  );
  return {
    ...ctx,
    // like a streamed answer, it cannot set cookies
    headers: { ...ctx.headers, ...Object.fromEntries(given), 'trpc-accept': 'application/jsonl' },
    rawHeaders: given.length > 0 ? given.flat() : ctx.rawHeaders,
    departures,
    authentications: new Map(),
    setCookie() {},
    clearCookie() {},
    setHeader() {},
    appendHeader() {},
  } satisfies RequestContext;
}

/**
 * tRPC over a WebSocket at `/trpc`: credentials are connection parameters or the cookie, and the socket closes when
 * they end (decisions S7). Until a first call is let in, the socket counts for its address and must be used to stay
 * open.
 */
export function createTrpcStream(router: AnyTRPCRouter, watch: AccessWatch): Stream {
  return {
    path: '/trpc',
    isShared: true,
    open({ ctx }) {
      if (ctx.cookies[ACCESS_COOKIE] !== undefined) checkOrigin(ctx);
      return Promise.resolve({
        begin(socket, req, claim) {
          const watched = watching(socket, watch);
          const { server } = ctx;
          const facts = { ...server, verifyAccess: watched(server.verifyAccess), verifyKey: watched(server.verifyKey) };
          const calls: CallWatch = {
            socket,
            began: () => (socket.pending += 1),
            authenticated: ({ identity }) => claim(socket, identity.id),
            subscribed: () => subscribe(socket, server.places),
            turn: () => server.places.turn(socket),
            succeeded(type) {
              socket.isUsed = true;
              socket.isKept ||= type === 'subscription';
            },
            ended: () => (socket.pending -= 1),
          };
          const departures = new Departures(socket);
          const handle = getWSConnectionHandler<AnyTRPCRouter>({
            router,
            createContext: ({ info }) => ({ ...contextOf(ctx, info.connectionParams, departures), server: facts, calls }),
            experimental_encoder: {
              encode: jsonEncoder.encode,
              decode: createDecoder(socket, { line: req.socket, router, places: server.places }),
            },
            // failures are logged where they are translated
            onError() {},
          } as Omit<HandlerOptions, 'wss'> as HandlerOptions);
          handle(socket, req);
        },
      });
    },
  };
}

/** @throws requestErrors.tooMany */
function subscribe(socket: StreamSocket, places: StreamPlaces): () => void {
  places.subscribe(socket);
  let isOver = false;
  return () => {
    if (!isOver) places.unsubscribe(socket);
    isOver = true;
  };
}

/** Decodes frames. Refuses here those calls that exceed the rate of this second (decisions H2). */
function createDecoder(
  socket: StreamSocket,
  { line, router, places }: { line: Socket; router: AnyTRPCRouter; places: StreamPlaces },
): Encoder['decode'] {
  const config = router._def._config;
  /** Refuses calls in one write; those without an id by one answer. */
  function refuse(calls: readonly unknown[], failure: ApiError): void {
    const details = { path: undefined, type: 'unknown', input: undefined, ctx: undefined } as const;
    const error = getErrorShape({ config, error: failure, ...details });
    const ids = new Set(calls.map((call) => idOf(call) ?? null));
    line.cork();
    for (const id of ids) socket.send(JSON.stringify(transformTRPCResponse(config, { id, error })));
    line.uncork();
  }

  return (data) => {
    if (socket.readyState !== socket.OPEN) return [];
    const given = jsonEncoder.decode(data);
    const calls: unknown[] = Array.isArray(given) ? given : [given];
    if (calls.every(isStop)) {
      forgiveStop(socket, places);
      return given;
    }
    const room = countCalls(socket, calls.length, places);
    const others = calls.filter((call) => !isStop(call));
    // not by the adapter, which refuses the stops of such a frame, too
    if (others.length > MAX_BATCH_SIZE) {
      refuse(others, tooManyCalls());
      return calls.filter(isStop);
    }
    if (room === calls.length) return given;
    const refused = new Set(others.slice(room));
    // those without an id in silence, so that a flood of them has no answers
    const answered = [...refused].filter((call) => idOf(call) !== undefined);
    refuse(answered, requestErrors.tooMany());
    return calls.filter((call) => !refused.has(call));
  };
}

const tooManyCalls = () => validationError(['request must be a valid tRPC call']);

function idOf(call: unknown): string | number | undefined {
  const { id } = (call ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** Whether a call stops a subscription, which costs nothing and frees a place. One without an id would be answered. */
function isStop(call: unknown): boolean {
  return idOf(call) !== undefined && (call as { method?: unknown }).method === 'subscription.stop';
}

/** Verifies access tokens and keys, and closes the socket when a verified one is no longer valid. */
function watching(socket: StreamSocket, watch: AccessWatch) {
  const sessions = new Map<string, Watched & { access: VerifiedAccess }>();
  socket.on('close', () => {
    for (const watched of sessions.values()) watch.remove(watched);
  });
  return <Given extends unknown[]>(verify: (...given: Given) => Promise<VerifiedAccess>) =>
    async (...given: Given): Promise<VerifiedAccess> => {
      const access = await verify(...given);
      const { sessionId } = access.identity;
      if (!sessions.has(sessionId) && socket.readyState === socket.OPEN) {
        const watched = { access, ended: (reason: 'expired' | 'revoked') => socket.end(reason) };
        sessions.set(sessionId, watched);
        watch.add(watched);
      }
      return access;
    };
}
