import { TRPCClientError, isTRPCClientError, type Operation, type TRPCLink } from '@trpc/client';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import type { Renewals, Sent } from './renewals.js';
import type { AppRouter } from './router-types.js';

/**
 * Procedures of `auth` without authentication. Their 401s concern a password or token in the input, not the session, so a
 * refresh cannot help. A test compares the list with the server.
 */
export const PUBLIC_PROCEDURES: ReadonlySet<string> = new Set([
  'auth.register',
  'auth.login',
  'auth.logout',
  'auth.refreshToken',
  'auth.checkToken',
  'auth.mfaVerify',
  'auth.mfaResend',
  'auth.mfaPasskeyOptions',
  'auth.mfaPasskey',
  'auth.passkeySignInOptions',
  'auth.passkeySignIn',
  'auth.ottLogin',
  'auth.confirmEmail',
  'auth.confirmNewEmail',
  'auth.sendResetPasswordLinkEmail',
  'auth.resetPassword',
  'auth.startOauth',
  'auth.finishOauth',
  'auth.finishOauthByForm',
]);

type Failed = TRPCClientError<AppRouter>;

/** The tokens that each call was sent with, by its context. */
export interface SentWith {
  note(operations: readonly Operation[], sent: Sent | undefined): void;
  of(operation: Operation): Sent | undefined;
}

/** Links copy operations but keep their contexts, so the context identifies a call. */
export function createSentWith(): SentWith {
  const byContext = new WeakMap<object, Sent>();
  return {
    note(operations, sent) {
      if (sent) for (const { context } of operations) byContext.set(context, sent);
    },
    of: ({ context }) => byContext.get(context),
  };
}

/** Repeats a call once, after a renewal, when its access token was refused. */
export function createRenewalLink(
  renewals: Renewals,
  { sentWith, curable }: { sentWith: SentWith; curable: ReadonlySet<string> },
): TRPCLink<AppRouter> {
  function isCurable(path: string, error: unknown): boolean {
    if (PUBLIC_PROCEDURES.has(path) || !isTRPCClientError<AppRouter>(error)) return false;
    return error.data?.httpStatus === 401 && curable.has(error.message);
  }

  return () =>
    ({ op, next }) =>
      observable((observer) => {
        let current: Unsubscribable | undefined;
        let isStopped = false;

        function send(onFailure: (error: Failed, attempt: Operation) => void): void {
          // a new context for each attempt, because the host may pass one object to many calls
          const attempt = { ...op, context: { ...op.context } };
          current = next(attempt).subscribe({
            next: (value) => observer.next(value),
            complete: () => observer.complete(),
            error: (error) => onFailure(error, attempt),
          });
        }

        async function recover(error: Failed, attempt: Operation): Promise<void> {
          const sent = sentWith.of(attempt);
          if (!sent || !isCurable(op.path, error)) return observer.error(error);
          try {
            const mayRepeat = await renewals.renew(sent);
            if (isStopped) return;
            if (mayRepeat) send((again) => observer.error(again));
            else observer.error(error);
          } catch (failure) {
            observer.error(TRPCClientError.from(failure as Error));
          }
        }

        send((error, attempt) => void recover(error, attempt));

        return () => {
          isStopped = true;
          current?.unsubscribe();
        };
      });
}
