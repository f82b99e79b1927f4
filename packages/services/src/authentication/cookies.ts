import { ACCESS_COOKIE, REFRESH_COOKIE, type RequestContext } from '@tandem/core';
import type { TokenPair } from './sessions.service.js';

/** Settings of the cookies of cookie mode; the defaults are the strictest (decisions A3). */
export interface CookieSettings {
  domain?: string;
  path?: string;
  sameSite?: 'strict' | 'lax' | 'none';
  secure?: boolean;
  httpOnly?: boolean;
}

/** Puts tokens into cookies, each living as long as its token, and takes them out. */
export function createTokenCookies(settings: CookieSettings) {
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
