import type { RequestContext } from '@tandem/core';
import type { CookieSettings } from '../authentication/cookies.js';
import { OAUTH_STATE_LIFETIME_MS, cookieNameOf } from './oauth-states.js';

/** The authorization that a browser has begun. */
export interface BrowserBinding {
  state: string;
  browserSecret: string;
}

/**
 * The cookies that bind authorizations to browsers. SameSite is Lax, whatever the other cookies are: the browser comes back by a navigation
 * from the provider's site, and Strict would keep the cookie from it. Where front ends on other sites are allowed, `none`, it must be that:
 * linking begins with a call from there. They are of this host alone, whatever domain the others have.
 */
export function createBrowserCookies({ secure = true, sameSite }: CookieSettings, publicUrl: string | undefined) {
  // below a proxy that serves it at a path, browsers see that path
  const path = `${publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '')}/auth/oauth`;
  const options = { path, httpOnly: true, secure, sameSite: sameSite === 'none' ? 'none' : 'lax' } as const;
  return {
    set(ctx: RequestContext, { state, browserSecret }: BrowserBinding): void {
      ctx.setCookie(cookieNameOf(state), browserSecret, { ...options, maxAge: OAUTH_STATE_LIFETIME_MS });
    },

    read(ctx: RequestContext, state: string): string | undefined {
      const name = cookieNameOf(state);
      return Object.hasOwn(ctx.cookies, name) ? ctx.cookies[name] : undefined;
    },

    remove(ctx: RequestContext, state: string): void {
      ctx.clearCookie(cookieNameOf(state), options);
    },
  };
}
export type BrowserCookies = ReturnType<typeof createBrowserCookies>;
