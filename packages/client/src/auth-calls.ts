import { createTRPCClient, httpLink } from '@trpc/client';
import { isLost } from './failure.js';
import type { AppRouter, RouterInputs, RouterOutputs } from './router-types.js';
import type { Tokens } from './token-store.js';
import type { Fetch, Transport } from './transport.js';

/** Email and password. */
export type SignInInput = Omit<RouterInputs['auth']['login'], 'fingerprint'>;
/** An address, or an invitation's token, which implies the address; and a password. */
export type SignUpInput = SignInInput | { token: string; password: string };
/** A one-time token of target `login`: from a provider's redirect, or made by an admin. */
export type TokenSignInInput = Omit<RouterInputs['auth']['ottLogin'], 'fingerprint'>;
/** The token of a challenge, and the code of a mail, an authenticator app or for recovery; or the answer of a passkey. */
export type MfaInput = RouterInputs['auth']['mfaVerify'] | RouterInputs['auth']['mfaPasskey'];
/** The answer of a passkey to `auth.passkeySignInOptions`. */
export type PasskeySignInInput = Omit<RouterInputs['auth']['passkeySignIn'], 'fingerprint'>;
export type LoginAnswer = RouterOutputs['auth']['login'];
/** The answer that begins a session. */
export type SessionAnswer = RouterOutputs['auth']['mfaVerify'];
/** Undefined in cookie mode, where the answer is in cookies. */
export type RefreshAnswer = RouterOutputs['auth']['refreshToken'];

/**
 * The calls that start, renew and end a session. They are never batched, and a 401 to them never triggers a refresh.
 */
export type AuthCalls = ReturnType<typeof createAuthCalls>;

/**
 * When a refresh without an answer is sent again, and when it is given up, in milliseconds: many calls wait for it. For ten seconds
 * the server repeats its answer (decisions H15); afterwards it takes the token for a stolen one. It answers within 15 s.
 */
const REFRESH_MS = [1000, 5000, 20_000] as const;

/**
 * A provider's token is valid only in the browser that came back from it, which a cookie proves, in bearer mode too.
 */
function withCookies(fetch: Fetch, procedure: string): Fetch {
  const isFor = (url: unknown) => typeof url === 'string' && url.split('?', 1)[0]?.endsWith(`/${procedure}`);
  return (input, init) => fetch(input, isFor(input) ? { ...init, credentials: 'include' } : init);
}

export function createAuthCalls({ url, fetch, fingerprint, fingerprintHeaders }: Transport) {
  const { auth } = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url,
        fetch: withCookies(fetch, 'auth.ottLogin'),
        headers: ({ op }) => ({ ...fingerprintHeaders, ...(op.context.headers as Record<string, string> | undefined) }),
      }),
    ],
  });

  return {
    register: (input: SignUpInput): Promise<RouterOutputs['auth']['register']> => auth.register.mutate(input),

    login: (input: SignInInput): Promise<LoginAnswer> =>
      auth.login.mutate({ ...input, ...(fingerprint !== undefined && { fingerprint }) }),

    loginByToken: (input: TokenSignInInput): Promise<LoginAnswer> =>
      auth.ottLogin.mutate({ ...input, ...(fingerprint !== undefined && { fingerprint }) }),

    loginByPasskey: (input: PasskeySignInInput): Promise<SessionAnswer> =>
      auth.passkeySignIn.mutate({ ...input, ...(fingerprint !== undefined && { fingerprint }) }),

    verifyMfa: (input: MfaInput): Promise<SessionAnswer> =>
      'code' in input ? auth.mfaVerify.mutate(input) : auth.mfaPasskey.mutate(input),

    resendMfa: (token: string): Promise<{ token: string }> => auth.mfaResend.mutate({ token }),

    /** @param refreshToken absent in cookie mode */
    async refresh(refreshToken?: string): Promise<RefreshAnswer> {
      const input = refreshToken === undefined ? {} : { refreshToken };
      const begun = Date.now();
      for (let at = 0; ; at++) {
        const left = () => Math.max(0, begun + (REFRESH_MS[at] ?? 0) - Date.now());
        try {
          return await auth.refreshToken.mutate(input, { signal: AbortSignal.timeout(left()) });
        } catch (error) {
          if (!isLost(error) || at === REFRESH_MS.length - 1) throw error;
          await new Promise((resolve) => setTimeout(resolve, left()));
        }
      }
    },

    /** @param tokens absent in cookie mode */
    async logout(tokens?: Tokens): Promise<void> {
      if (!tokens) return auth.logout.mutate({});
      const headers = { authorization: `Bearer ${tokens.accessToken}` };
      await auth.logout.mutate({ refreshToken: tokens.refreshToken }, { context: { headers } });
    },
  };
}
