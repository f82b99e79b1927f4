import type { RequestContext } from '@tandem/core';
import type { CookieSettings } from '../authentication/cookies.js';
import { OAUTH_STATE_LIFETIME_MS, hashOf } from './oauth-states.js';

/** A cookie secret that proves that this browser began the authorization. */
export interface BrowserBinding {
  /** The state of an authorization, or the id of a one-time token. */
  of: string;
  secret: string;
  /** The browser returns by a form of another site, which sends no Lax cookies. */
  isFromForm?: boolean;
}

/** Each binding has its own cookie name, so that two tabs do not interfere. The name is a hash and reveals nothing. */
const nameOf = (kind: 'oauth' | 'ott', of: string) => `${kind}-${hashOf(of).slice(0, 16)}`;

/**
 * Cookies that bind an authorization, and the one-time token it ends in, to the browser. SameSite is Lax, even if other cookies
 * are Strict, because the browser returns by a navigation from the provider's site. If the setting is `none`, front ends on other
 * sites call the server to begin linking, so these cookies need `none` too; and so does the way back by a form. They are
 * host-only, whatever domain other cookies have.
 * @param tokenLifetime of the one-time tokens, in milliseconds
 */
export function createBrowserCookies(
  { secure = true, sameSite }: CookieSettings,
  { publicUrl, tokenLifetime }: { publicUrl: string | undefined; tokenLifetime: number },
) {
  // behind a proxy that serves the app below a path, browsers see that path
  const base = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
  const shared = { httpOnly: true, secure, sameSite: sameSite === 'none' ? 'none' : 'lax' } as const;

  /** @param lifetime in milliseconds */
  function define(kind: 'oauth' | 'ott', path: string, lifetime: number) {
    return {
      set(ctx: RequestContext, { of, secret, isFromForm }: BrowserBinding): void {
        const crossSite = isFromForm ? ({ sameSite: 'none', secure: true } as const) : {};
        ctx.setCookie(nameOf(kind, of), secret, { ...shared, ...crossSite, path, maxAge: lifetime });
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
    // REST and tRPC both redeem tokens and share no longer path
    ofTokens: define('ott', base === '' ? '/' : base, tokenLifetime),
  };
}
export type BrowserCookies = ReturnType<typeof createBrowserCookies>;
