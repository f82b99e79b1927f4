import { hashFingerprint, validationError, type RequestContext } from '@tandem/core';
import { requestFactsOf } from '../audit/request-facts.js';
import type { SignInAnswer } from './authentication.service.js';
import type { TokenCookies } from './cookies.js';
import type { Device } from './sessions.service.js';

export type SignInAnswers = ReturnType<typeof createSignInAnswers>;

export function isCookieMode(ctx: RequestContext): boolean {
  return ctx.server.authModeOf('auth') === 'cookie';
}

/**
 * A streamed tRPC answer sends its headers before the work begins, and no cookie can follow: refused before anything is done.
 * @throws validationError
 */
export function requireCookiesPossible(ctx: RequestContext): void {
  const accepted = ctx.headers['trpc-accept'] ?? ctx.headers.accept ?? '';
  if (ctx.rest === undefined && accepted.includes('application/jsonl'))
    throw validationError(['a call that sets cookies must not be streamed: use httpBatchLink']);
}

/** Where a request comes from, and what binds a session to the device. */
export function deviceOf(ctx: RequestContext, fingerprint: string | undefined): Device {
  return {
    ...requestFactsOf(ctx),
    fingerprintHash: fingerprint === undefined ? undefined : hashFingerprint(fingerprint),
  };
}

/** The answers to everything that ends in a session: with its tokens, or in cookie mode with cookies. */
export function createSignInAnswers(cookies: TokenCookies) {
  return {
    /** @param run signs in, and gives a session or the token of a challenge */
    async signIn<Answer extends SignInAnswer>(
      ctx: RequestContext,
      fingerprint: string | undefined,
      run: (device: Device) => Promise<Answer>,
    ): Promise<Answer | { id: string }> {
      const isCookies = isCookieMode(ctx);
      if (isCookies) requireCookiesPossible(ctx);
      const answer = await run(deviceOf(ctx, fingerprint));
      if (!isCookies || !('accessToken' in answer)) return answer;
      cookies.set(ctx, answer);
      return { id: answer.id };
    },
  };
}
