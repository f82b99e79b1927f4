import type { RequestContext } from '@tandem/core';
import type { CookieSettings } from '../authentication/cookies.js';
import { OAUTH_STATE_LIFETIME_MS, hashOf } from './oauth-states.js';

/** What only one browser has, in a cookie: proof that it is the one that began. */
export interface BrowserBinding {
  /** The state of an authorization, or the id of a one-time token. */
  of: string;
  secret: string;
}

/** Cookies have a name each, so that two tabs do not hinder each other. It tells nothing of what it is of. */
const nameOf = (kind: 'oauth' | 'ott', of: string) => `${kind}-${hashOf(of).slice(0, 16)}`;

/**
 * The cookies that bind an authorization, and then the one-time token that it ends in, to the browser. SameSite is Lax, whatever the other
 * cookies are: the browser comes back by a navigation from the provider's site, and Strict would keep the cookie from it. Where front ends on
 * other sites are allowed, `none`, it must be that: linking begins with a call from there. They are of this host alone, whatever domain the
 * others have.
 * @param tokenLifetime of the one-time tokens, in milliseconds
 */
export function createBrowserCookies(
  { secure = true, sameSite }: CookieSettings,
  { publicUrl, tokenLifetime }: { publicUrl: string | undefined; tokenLifetime: number },
) {
  // below a proxy that serves it at a path, browsers see that path
  const base = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const shared = { httpOnly: true, secure, sameSite: sameSite === 'none' ? 'none' : 'lax' } as const;

  /** @param lifetime in milliseconds */
  function define(kind: 'oauth' | 'ott', path: string, lifetime: number) {
    return {
      set(ctx: RequestContext, { of, secret }: BrowserBinding): void {
        ctx.setCookie(nameOf(kind, of), secret, { ...shared, path, maxAge: lifetime });
      },
      read(ctx: RequestContext, of: string): string | undefined {
        const name = nameOf(kind, of);
        return Object.hasOwn(ctx.cookies, name) ? ctx.cookies[name] : undefined;
      },
      remove(ctx: RequestContext, of: string): void {
        ctx.clearCookie(nameOf(kind, of), { ...shared, path });
      },
    };
  }

  return {
    ofStates: define('oauth', `${base}/auth/oauth`, OAUTH_STATE_LIFETIME_MS),
    // taken on both faces, which have no path in common but this
    ofTokens: define('ott', base === '' ? '/' : base, tokenLifetime),
  };
}
export type BrowserCookies = ReturnType<typeof createBrowserCookies>;
