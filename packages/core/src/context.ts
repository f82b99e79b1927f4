import type { IncomingHttpHeaders } from 'node:http';
import type { BodyPace } from './body-pace.js';
import type { ApiError, ErrorStatus } from './errors.js';
import type { StreamPlaces } from './streams/stream-places.js';
import type { CookieOptions, Request, Response } from 'express';
import { clientAddress } from './client-address.js';
import { Departures, type Waiting } from './leaving.js';

/** Where all time comes from, so that tests can move it. */
export interface Clock {
  now(): Date;
}

/** The part of a pino logger that is used. Objects come first, texts are constant. */
export interface Log {
  debug(facts: object, text: string): void;
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}

/** How a service takes its access token: from the `Authorization` header, or from a cookie (spec, "Authentication" 1). */
export type AuthMode = 'bearer' | 'cookie';

/** The identity types' ids, as configured (spec, "Authentication" 5). */
export interface IdentityTypeIds {
  admin: string;
  guest: string;
  regular: string;
}

/** Who makes a request, as the verified access token and the live session say. */
export interface Identity {
  id: string;
  typeId: string;
  sessionId: string;
}

/** What an access token stands for: its identity, and the hash of the fingerprint given at login. */
export interface VerifiedAccess {
  identity: Identity;
  fingerprintHash: string | undefined;
  /** When the token ends, in seconds since 1970. */
  expiresAt: number;
}

/** Stands before the names of all cookies: browsers take such a cookie only as its prefix promises (decisions H11). */
export type CookiePrefix = '' | '__Host-' | '__Secure-';

/** What a server is, as far as a procedure has to know: handed in once, at wiring. */
export interface ServerFacts {
  /** Errors carry stacks only in development. */
  development: boolean;
  typeIds: IdentityTypeIds;
  /** The mode of a service, named by the first word of a procedure's path: `notifications`. */
  authModeOf(service: string): AuthMode;
  /** Browser origins from which cookie mode takes state-changing requests. */
  allowedOrigins: ReadonlySet<string>;
  /** Default none. */
  cookiePrefix?: CookiePrefix;
  /** @throws ApiError 401 when the token is no live access token (decisions A2) */
  verifyAccess(token: string): Promise<VerifiedAccess>;
  /** Whether an error says that the store cannot be reached or is too slow: 503 instead of 500. */
  isUnavailable(error: unknown): boolean;
  /** Of services by name: bytes of the JSON text of an input, below the limit of bodies (decisions H5). */
  inputLimits?: Readonly<Record<string, number>>;
  /** Waits until a request's body may be read. Absent: nobody waits. */
  bodyTurn?: BodyPace;
  /** Milliseconds after which a request is answered 503, whatever it waits for. */
  deadlineMs: number;
  /** What everybody has open in this process. */
  places: StreamPlaces;
  log: Log;
}

/** The text and body of a REST call, for the rules and the input. Absent on the tRPC face. */
export interface RestCall {
  /** Path parameters, decoded. Rules read them without touching the body. */
  params: Readonly<Record<string, string>>;
  /** The input as given, before validation: path, query and body in one object. Reads the body at the first call. */
  readInput(): Promise<unknown>;
}

/** What a connection is told of its calls. */
export interface CallWatch {
  began(): void;
  /** Before the first one is let in. @throws ApiError to refuse it */
  authenticated(access: VerifiedAccess): void;
  /** Takes a place for a subscription. @returns gives it back, at the first call @throws requestErrors.tooMany */
  subscribed(): () => void;
  /** Of a subscription: it is read from now on. */
  succeeded(type: string): void;
  ended(): void;
}

/** One request, on either face. */
export interface RequestContext {
  readonly server: ServerFacts;
  readonly requestId: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly headers: IncomingHttpHeaders;
  /** Header names and values as they came, repeated ones included. */
  readonly rawHeaders: readonly string[];
  /** By their names without the server's prefix; those without it are left out. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  rest?: RestCall;
  /** Why the body cannot be read, where that is known before anybody reads it. */
  unreadableBody?: ApiError;
  /** @param name without the server's prefix */
  setCookie(name: string, value: string, options: CookieOptions): void;
  clearCookie(name: string, options: CookieOptions): void;
  setHeader(name: string, value: string): void;
  /** The status of an answer of server-sent events that is refused before it begins; tRPC would answer 200 all the same. */
  refusedWith?: ErrorStatus;
  /** Where many calls, one after the other, have this one context: what is told of them. */
  calls?: CallWatch;
  /** Who wants to know when the caller leaves, or the answer is over, however it has ended. */
  readonly departures: Departures;
  /** Until when this call is waited for; absent before its procedure has begun. */
  waiting?: Waiting;
  /** The one authentication of this request, by mode; kept here so that a batch of calls pays for it once. */
  readonly authentications: Map<AuthMode, Promise<VerifiedAccess>>;
}

/** What the request logger, before the faces, leaves on a request. */
interface Prepared {
  id?: unknown;
  log?: Log;
}

/** Names that a `Cookie` header gives two values: another site of the domain may have added one, and no order says which. */
function ambiguousNames(header: string): Set<string> {
  const values = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const pair of header.split(';')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map((part) => part.trim());
    if ((values.get(name) ?? value) !== value) ambiguous.add(name);
    values.set(name, value);
  }
  return ambiguous;
}

/**
 * The cookies with a prefix that say one thing, by their names without it. `cookie-parser` makes objects of values that begin with `j:`; no
 * cookie of ours is one.
 */
function textCookies(prefix: CookiePrefix, header: string, cookies: object = {}): Record<string, string> {
  const ambiguous = ambiguousNames(header);
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && !ambiguous.has(entry[0]) && entry[0].startsWith(prefix);
  const texts = Object.entries(cookies).filter(isText);
  return Object.fromEntries(texts.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** Makes the context of a request. Expects `cookie-parser`, and a request id and log as `pino-http` leaves them, if any. */
export function createRequestContext(server: ServerFacts, req: Request, res: Response): RequestContext {
  const { id, log = server.log } = req as unknown as Prepared;
  const { cookiePrefix = '' } = server;
  // browsers take a cookie of this prefix for all paths of one host alone
  const bound = cookiePrefix === '__Host-' ? { path: '/' } : {};
  return {
    server,
    requestId: typeof id === 'string' ? id : '',
    ip: clientAddress(req),
    userAgent: (req.headers['user-agent'] ?? '').slice(0, 512),
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    cookies:
      req.headers.cookie === undefined ? {} : textCookies(cookiePrefix, req.headers.cookie, req.cookies as object | undefined),
    log,
    setCookie: (name, value, options) => void res.cookie(cookiePrefix + name, value, { ...options, ...bound }),
    clearCookie: (name, options) => void res.clearCookie(cookiePrefix + name, { ...options, ...bound }),
    setHeader(name, value) {
      // a streamed tRPC answer has sent its headers before the work begins
      if (!res.headersSent) res.setHeader(name, value);
    },
    departures: new Departures(res),
    authentications: new Map(),
  };
}
