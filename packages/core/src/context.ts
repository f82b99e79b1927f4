import type { IncomingHttpHeaders } from 'node:http';
import type { ApiError, ErrorStatus } from './errors.js';
import type { KeptAnswers } from './idempotency.js';
import type { ReaderSocket } from './streams/iterator-reader.js';
import type { StreamPlaces } from './streams/stream-places.js';
import cookieParser from 'cookie-parser';
import type { CookieOptions, Request, Response } from 'express';
import { clientAddress } from './client-address.js';
import type { MfaRequired } from './factors.js';
import { Departures, type Waiting } from './leaving.js';

/** The source of all time, so that tests can control it. */
export interface Clock {
  now(): Date;
}

/** The part of a pino logger that is used. Objects come first; messages are constant. */
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

/** The API key of a caller (decisions E4). */
export interface CallerKey {
  id: string;
  /** What it names, of what the identity may do. */
  scopes: readonly string[];
}

/** The caller of a request, according to the verified access token and the live session, or to an API key. */
export interface Identity {
  id: string;
  typeId: string;
  /** Of the sign-in; of a caller with a key, the id of the key. */
  sessionId: string;
  /** Absent after a sign-in. */
  key?: CallerKey;
  /** Has a second factor, or never signs in, as a service account. */
  hasFactor?: true;
}

/** What an access token or an API key grants: its identity, and the hash of the fingerprint given at login. */
export interface VerifiedAccess {
  identity: Identity;
  fingerprintHash: string | undefined;
  /** Expiry, in seconds since 1970. */
  expiresAt: number;
}

/** Prefix of all cookie names. Browsers enforce the attributes that the prefix promises (decisions H11). */
export type CookiePrefix = '' | '__Host-' | '__Secure-';

/** What procedures need to know of their server; passed in once, at wiring. */
export interface ServerFacts {
  /** Errors carry stacks only in development. */
  development: boolean;
  typeIds: IdentityTypeIds;
  /** The mode of a service, which is the first word of a procedure's path: `notifications`. */
  authModeOf(service: string): AuthMode;
  /** Browser origins whose state-changing requests cookie mode accepts. */
  allowedOrigins: ReadonlySet<string>;
  /** Default none. */
  cookiePrefix?: CookiePrefix;
  /** @throws ApiError 401 unless the token is a live access token (decisions A2) */
  verifyAccess(token: string): Promise<VerifiedAccess>;
  /**
   * @param ip the caller's address
   * @throws ApiError 401 unless the API key is live and accepted from there (decisions E4)
   */
  verifyKey(key: string, ip: string): Promise<VerifiedAccess>;
  /** Services that no API key reaches, whatever its scopes. */
  keylessServices: ReadonlySet<string>;
  /** Who needs a second factor. Absent: nobody. */
  mfaRequired?: MfaRequired;
  /** Whether an error means that the store is unreachable or too slow: 503 instead of 500. */
  isUnavailable(error: unknown): boolean;
  /** Input limits by service name, in bytes of JSON text, below the general body limit (decisions H5). */
  inputLimits?: Readonly<Record<string, number>>;
  /** Waits until a request's body may be read. Absent: no wait. */
  bodyTurn?(ctx: RequestContext): Promise<void>;
  /** Milliseconds after which a request is answered with 503, whatever it waits for. */
  deadlineMs: number;
  /** Runs a mutation in the name of its caller, so that what it writes is told as theirs. Absent: nobody is told. */
  actingAs?<T>(identity: Identity | undefined, run: () => T): T;
  /** Runs what changes a record only in these versions. Absent: `If-Match` is ignored. */
  expecting?<T>(expected: { id: string; versions: readonly number[] }, run: () => Promise<T>): Promise<T>;
  /** Whether a failure means that the record has another version. */
  isStale?(error: unknown): boolean;
  /** Whether this call has made the record with this id. */
  hasMade?(id: string): boolean;
  /** Absent: the `Idempotency-Key` header is ignored. */
  keptAnswers?: KeptAnswers;
  /** Counts of all streams open in this process. */
  places: StreamPlaces;
  log: Log;
}

/** The parts of a REST call that rules and input need. Absent on the tRPC face. */
export interface RestCall {
  /** Path parameters, decoded. Rules read them without touching the body. */
  params: Readonly<Record<string, string>>;
  /** The input as given, before validation: path, query and body in one object. The first call reads the body. */
  readInput(): Promise<unknown>;
}

/** Callbacks by which a connection follows its calls. */
export interface CallWatch {
  /** The connection: what subscriptions read from the store may come no faster than it takes it. */
  readonly socket: ReaderSocket;
  began(): void;
  /** Called before the first call is let in. @throws ApiError to refuse it */
  authenticated(access: VerifiedAccess): void;
  /**
   * Reserves a place for a subscription. @returns a function that releases it; repeated calls do nothing @throws
   * requestErrors.tooMany
   */
  subscribed(): () => void;
  /** Waits until a subscription that was let in may start. @throws requestErrors.unavailable when the connection closes before */
  turn(): Promise<void>;
  /** A subscription has started. */
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
  /** Header names and values as received, repeated ones included. */
  readonly rawHeaders: readonly string[];
  /** Cookies by name without the server's prefix; cookies that lack the prefix are left out. */
  readonly cookies: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  rest?: RestCall;
  /** Why the body cannot be read, where that is known before reading. */
  unreadableBody?: ApiError;
  /** @param name without the server's prefix */
  setCookie(name: string, value: string, options: CookieOptions): void;
  clearCookie(name: string, options: CookieOptions): void;
  setHeader(name: string, value: string): void;
  /** Adds a value to a header that is a list. */
  appendHeader(name: string, value: string): void;
  /** The status of a server-sent events answer that is refused before it begins; tRPC would answer 200 regardless. */
  refusedWith?: ErrorStatus;
  /** Set where a connection carries many calls in this one context. */
  calls?: CallWatch;
  /** Set where a request carries several calls that are answered together: the same object for all of them. */
  batch?: object;
  /** Listeners for the caller leaving, or for the end of the answer, however it ended. */
  readonly departures: Departures;
  /**
   * Makes the ids of what a call with an `Idempotency-Key` creates, the same ones when it is sent again, so that it is
   * stored once. Absent without a key: any new id will do.
   */
  newId?: () => string;
  /** Makes them again. Present where an earlier attempt may have stored them. */
  earlierIds?: () => () => string;
  /** The deadline and cancellation of this call; absent before its procedure has begun. */
  waiting?: Waiting;
  /** The authentication of this request by mode, cached so that a batch of calls authenticates once. */
  readonly authentications: Map<AuthMode, Promise<VerifiedAccess>>;
}

/** What the request logger, which runs before both faces, stores on a request. */
interface Prepared {
  id?: unknown;
  log?: Log;
}

/**
 * Names that appear twice with different values in a `Cookie` header: another site of the domain may have set one, and
 * the order does not tell which.
 */
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

const parseCookies = cookieParser();

/**
 * Unambiguous cookies with the prefix, by name without it. Values that `cookie-parser` turned into objects (they begin
 * with `j:`) are never ours.
 */
function textCookies(prefix: CookiePrefix, req: Request, res: Response): Record<string, string> {
  if (req.headers.cookie === undefined) return {};
  // does nothing where the host has parsed them
  parseCookies(req, res, () => {});
  const ambiguous = ambiguousNames(req.headers.cookie);
  const isText = (entry: [string, unknown]): entry is [string, string] =>
    typeof entry[1] === 'string' && !ambiguous.has(entry[0]) && entry[0].startsWith(prefix);
  const texts = Object.entries(req.cookies as object).filter(isText);
  return Object.fromEntries(texts.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** Makes the context of a request. Takes its id and log from the request, if a middleware has set them. */
export function createRequestContext(server: ServerFacts, req: Request, res: Response): RequestContext {
  const { id, log = server.log } = req as unknown as Prepared;
  const { cookiePrefix = '' } = server;
  // browsers accept this prefix only on cookies of path / without a domain
  const bound = cookiePrefix === '__Host-' ? { path: '/' } : {};
  return {
    server,
    requestId: typeof id === 'string' ? id : '',
    ip: clientAddress(req),
    userAgent: (req.headers['user-agent'] ?? '').slice(0, 512),
    headers: req.headers,
    rawHeaders: req.rawHeaders,
    cookies: textCookies(cookiePrefix, req, res),
    log,
    setCookie: (name, value, options) => void res.cookie(cookiePrefix + name, value, { ...options, ...bound }),
    clearCookie: (name, options) => void res.clearCookie(cookiePrefix + name, { ...options, ...bound }),
    setHeader(name, value) {
      // a streamed tRPC answer sends its headers before the work begins
      if (!res.headersSent) res.setHeader(name, value);
    },
    appendHeader(name, value) {
      if (!res.headersSent) res.appendHeader(name, value);
    },
    departures: new Departures(res),
    authentications: new Map(),
  };
}
