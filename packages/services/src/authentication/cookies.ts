import { ACCESS_COOKIE, REFRESH_COOKIE, type CookiePrefix, type RequestContext } from '@tandem/core';
import type { TokenPair } from './sessions/sessions.service.js';

/** Settings of the cookies in cookie mode. The defaults are the strictest (decisions A3). */
export interface CookieSettings {
  domain?: string;
  path?: string;
  sameSite?: 'strict' | 'lax' | 'none';
  secure?: boolean;
  httpOnly?: boolean;
  /** Prefix of all cookie names (decisions H11). Default none. */
  prefix?: CookiePrefix;
}

/** @throws Error naming the setting, for anything but a host name, with or without a dot before it */
export function parseCookieDomain(name: string, domain: string): void {
  const label = '[a-z\\d]([a-z\\d-]{0,61}[a-z\\d])?';
  if (!new RegExp(`^\\.?${label}(\\.${label})*$`, 'i').test(domain))
    throw new Error(`${name} must be a host name such as example.org, not "${domain}"`);
}

/**
 * The prefix of all cookie names.
 * @throws Error naming the setting, if browsers would refuse the cookies
 */
export function cookiePrefixOf({ prefix = '', domain, secure = true }: CookieSettings): CookiePrefix {
  if (domain !== undefined) parseCookieDomain('cookies.domain', domain);
  if (prefix !== '' && !secure) throw new Error(`cookies.prefix: ${prefix} needs cookies.secure`);
  if (prefix === '__Host-' && domain !== undefined) throw new Error('cookies.prefix: __Host- allows no cookies.domain');
  return prefix;
}

/** Sets and clears the token cookies. A cookie expires with its token. */
export function createTokenCookies({ prefix: _, ...settings }: CookieSettings) {
  const options = { path: '/', sameSite: 'strict', secure: true, httpOnly: true, ...settings } as const;
  return {
    set(ctx: RequestContext, { accessToken, refreshToken, maxAges }: TokenPair): void {
      ctx.setCookie(ACCESS_COOKIE, accessToken, { ...options, maxAge: maxAges.access });
      ctx.setCookie(REFRESH_COOKIE, refreshToken, { ...options, maxAge: maxAges.refresh });
    },
    clear(ctx: RequestContext): void {
      ctx.clearCookie(ACCESS_COOKIE, options);
      ctx.clearCookie(REFRESH_COOKIE, options);
    },
  };
}
export type TokenCookies = ReturnType<typeof createTokenCookies>;
