import { hashFingerprint, validationError, type RequestContext } from '@tandem/core';
import { requestFactsOf } from '../audit/request-facts.js';
import type { SignInAnswer } from './authentication.service.js';
import type { TokenCookies } from './cookies.js';
import type { Device } from './sessions/sessions.service.js';

export type SignInAnswers = ReturnType<typeof createSignInAnswers>;

export function isCookieMode(ctx: RequestContext): boolean {
  return ctx.server.authModeOf('auth') === 'cookie';
}

/**
 * Refuses a streamed tRPC call before any work: its headers are sent first, so that it could set no cookies.
 * @throws validationError
 */
export function requireCookiesPossible(ctx: RequestContext): void {
  const accepted = ctx.headers['trpc-accept'] ?? ctx.headers.accept ?? '';
  if (ctx.rest === undefined && accepted.includes('application/jsonl'))
    throw validationError(['a call that sets cookies must not be streamed: use httpBatchLink']);
}

/** The origin of a request, with the hash of its fingerprint. */
export function deviceOf(ctx: RequestContext, fingerprint: string | undefined): Device {
  return {
    ...requestFactsOf(ctx),
    fingerprintHash: fingerprint === undefined ? undefined : hashFingerprint(fingerprint),
  };
}

/** Answers every sign-in: with tokens, or with cookies in cookie mode. */
export function createSignInAnswers(cookies: TokenCookies) {
  return {
    /** @param run signs in; resolves to a session or the token of a challenge */
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
