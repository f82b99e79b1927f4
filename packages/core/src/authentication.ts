import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError, defineErrors } from './errors.js';
import type { AuthMode, RequestContext, VerifiedAccess } from './context.js';
import { lacksFactor } from './factors.js';
import { isKey } from './keys.js';

/** Failures of authentication (spec, "Errors"; decisions A1 to A3). */
export const authenticationErrors = defineErrors('authentication', {
  missingHeader: [422, 'Missing authorization header'],
  malformedHeader: [422, 'Incorrect authorization of token header'],
  malformedFingerprint: [422, 'Incorrect format of x-nb-fingerprint header'],
  cookieMismatch: [422, 'Cookie and bearer did not match'],
  missingCookie: [401, 'Unable to detect access token'],
  unverified: [401, 'token could not be verified'],
  wrongType: [401, 'Invalid token'],
  fingerprintMismatch: [401, 'Token fails security check'],
});

/** Refuses cross-origin requests in cookie mode, where browsers attach the credentials by themselves (decisions A3). */
export const originErrors = defineErrors('origin', { originNotAllowed: [403, 'Origin is not allowed'] });

/** Name of the header that carries the device's fingerprint (spec, "Authentication" 4). */
export const FINGERPRINT_HEADER = 'x-nb-fingerprint';
/** Longest accepted fingerprint, in characters: bounds what is hashed and compared (decisions A1). */
export const FINGERPRINT_MAX_LENGTH = 512;
/** Names of the cookies in cookie mode (decisions A3). */
export const ACCESS_COOKIE = 'accessToken';
export const REFRESH_COOKIE = 'refreshToken';

/** What tokens and sessions keep of a fingerprint: never the fingerprint itself. */
export function hashFingerprint(fingerprint: string): string {
  return createHash('sha256').update(fingerprint).digest('base64url');
}

/** How often a header was sent. Node joins or drops repeated headers, so this counts the raw list. */
function timesGiven(ctx: RequestContext, name: string): number {
  let times = 0;
  for (let at = 0; at < ctx.rawHeaders.length; at += 2) if (ctx.rawHeaders[at]?.toLowerCase() === name) times++;
  return times;
}

/**
 * The access or one-time token of the `Authorization` header; undefined when there is none.
 * @throws authenticationErrors.malformedHeader unless it is `Bearer <one word>`, once
 */
export function readBearer(ctx: RequestContext): string | undefined {
  const header = ctx.headers.authorization;
  if (header === undefined) return undefined;
  const token = /^Bearer ([^\s,]+)$/.exec(header)?.[1];
  if (token === undefined || timesGiven(ctx, 'authorization') > 1) throw authenticationErrors.malformedHeader();
  return token;
}

/**
 * The device's fingerprint; undefined when the header is not sent.
 * @throws authenticationErrors.malformedFingerprint when it is given more than once, or over 512 characters
 */
export function readFingerprint(ctx: RequestContext): string | undefined {
  const header = ctx.headers[FINGERPRINT_HEADER];
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || header.length > FINGERPRINT_MAX_LENGTH || timesGiven(ctx, FINGERPRINT_HEADER) > 1)
    throw authenticationErrors.malformedFingerprint();
  return header;
}

function isSameHash(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether a request sends an access token in this mode, or an API key, right or wrong. */
export function hasCredentials(ctx: RequestContext, mode: AuthMode): boolean {
  const { authorization } = ctx.headers;
  if (mode === 'bearer') return authorization !== undefined;
  return ctx.cookies[ACCESS_COOKIE] !== undefined || isKey(authorization?.replace(/^Bearer /, '') ?? '');
}

/** The credentials of a request in this mode. Malformed ones are refused (422) before missing or wrong ones (401). */
function readCredentials(ctx: RequestContext, mode: AuthMode) {
  const bearer = readBearer(ctx);
  if (mode === 'bearer' && bearer === undefined) throw authenticationErrors.missingHeader();
  const cookie = mode === 'cookie' ? ctx.cookies[ACCESS_COOKIE] || undefined : undefined;
  // programs have keys, which no device is bound to
  if (bearer !== undefined && isKey(bearer)) return { bearer, cookie };
  const fingerprint = readFingerprint(ctx);
  if (mode === 'cookie' && cookie === undefined) throw authenticationErrors.missingCookie();
  return { bearer, cookie, fingerprint };
}

/**
 * Compares a request's fingerprint with the one given at login. A fingerprint sent where login had none fails too.
 * @throws authenticationErrors.fingerprintMismatch (decisions A2)
 */
export function checkFingerprint(access: VerifiedAccess, fingerprint: string | undefined): void {
  const hash = fingerprint === undefined ? undefined : hashFingerprint(fingerprint);
  if (!isSameHash(access.fingerprintHash, hash)) throw authenticationErrors.fingerprintMismatch();
}

async function verify(ctx: RequestContext, mode: AuthMode): Promise<VerifiedAccess> {
  const { server, ip } = ctx;
  const { bearer, cookie, fingerprint } = readCredentials(ctx, mode);
  const inCookie = cookie === undefined ? undefined : await server.verifyAccess(cookie);
  const verifyHeader = (text: string) => (isKey(text) ? server.verifyKey(text, ip) : server.verifyAccess(text));
  const inHeader = bearer === undefined ? undefined : await verifyHeader(bearer);
  if (inCookie && inHeader && inCookie.identity.id !== inHeader.identity.id) throw authenticationErrors.cookieMismatch();
  // beside a cookie, a key still limits what the request may do
  const access = inHeader?.identity.key ? inHeader : ((inCookie ?? inHeader) as VerifiedAccess);
  if (!access.identity.key) checkFingerprint(access, fingerprint);
  ctx.calls?.authenticated(access);
  return access;
}

/** Whether a failure says nothing about the credentials: the store is unavailable, or a limit was reached. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.retryAfter !== undefined;
}

/**
 * Identifies the caller of a request, and when that access expires. Runs once per request and mode, however many
 * procedures and rules ask (decisions T6).
 * @throws authenticationErrors 422 for a missing or malformed header, then 401 (spec, "Authentication")
 */
export function authenticate(ctx: RequestContext, mode: AuthMode): Promise<VerifiedAccess> {
  const existing = ctx.authentications.get(mode);
  if (existing) return existing;
  const access = verify(ctx, mode);
  ctx.authentications.set(mode, access);
  // the calls of a connection share a context, which may outlive an outage: do not cache a passing failure
  access.catch((error: unknown) => {
    if (isPassing(error)) ctx.authentications.delete(mode);
  });
  return access;
}

/**
 * As `authenticate`, but reads a caller without a required factor once more on a connection, whose calls share what was read:
 * one may have been enrolled since.
 * @throws what `authenticate` throws
 */
export async function authenticateCall(ctx: RequestContext, mode: AuthMode): Promise<VerifiedAccess> {
  const access = await authenticate(ctx, mode);
  if (!ctx.calls || !lacksFactor(ctx.server, access.identity)) return access;
  ctx.authentications.delete(mode);
  return authenticate(ctx, mode);
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

/**
 * Refuses a cross-origin request of a browser, because in cookie mode the browser attaches the credentials by itself. A
 * request with neither `Origin` nor `Referer` does not come from a browser and passes.
 * @throws originErrors.originNotAllowed (decisions A3)
 */
export function checkOrigin(ctx: RequestContext): void {
  const source = ctx.headers.origin ?? ctx.headers.referer;
  if (source === undefined) return;
  const origin = originOf(source);
  if (origin === undefined || !ctx.server.allowedOrigins.has(origin)) throw originErrors.originNotAllowed();
}
