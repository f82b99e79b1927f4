import { isTRPCClientError, type TRPCClientError } from '@trpc/client';
import type { StreamError } from './chat-types.js';
import { codeOf, codeOfAnswer } from './error-code.js';
import type { AppRouter, ErrorCode } from './router-types.js';
import { UploadError } from './upload-error.js';

/** A failed call, with the fields of the REST face. */
export interface Failure {
  /** HTTP status; undefined when there was no readable answer. */
  status: number | undefined;
  message: string;
  /** The problems of a failed validation, one text each; otherwise empty. */
  data: readonly string[];
  /** Which error it is: `products.notFound`. Absent when there was no readable answer, or no Tandem's. */
  code?: ErrorCode | undefined;
}

/** What tRPC keeps of an error answer that is not in its format: from a proxy, or a server that is starting. */
interface ForeignAnswer {
  response?: Partial<Pick<Response, 'status' | 'headers'>>;
  responseJSON?: { error?: { message?: unknown } } | null;
}

function isStreamError(error: unknown): error is StreamError {
  const { type, errorCode } = (error ?? {}) as Partial<StreamError>;
  return type === 'error' && errorCode !== undefined;
}

/**
 * What went wrong with a call: status, message, problems and code, as on the REST face.
 * @param error anything that a call of the client has thrown, or an `error` frame of a stream
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof TandemError) {
    const { status, message, data, code } = error;
    return { status, message, data, code };
  }
  if (error instanceof UploadError) return { status: error.status, message: error.message, data: [], code: error.code };
  if (isStreamError(error))
    return { status: undefined, message: error.message, data: error.data ?? [], code: codeOf(error.errorCode) };
  if (!isTRPCClientError<AppRouter>(error))
    return { status: undefined, message: error instanceof Error ? error.message : String(error), data: [] };
  const { message, data, meta } = error;
  if (data) return { status: data.httpStatus, message, data: data.data ?? [], code: codeOf(data.errorCode) };
  const { response, responseJSON } = (meta ?? {}) as ForeignAnswer;
  const said = responseJSON?.error?.message;
  const text = typeof said === 'string' ? said : message;
  return { status: response?.status, message: text, data: [], code: codeOfAnswer(response) };
}

/** What `isError` has recognized. */
export type ErrorWith<Code extends string> =
  | (TandemError & { readonly code: Code })
  | (UploadError & { readonly code: Code })
  | (StreamError & { readonly errorCode: Code })
  | (TRPCClientError<AppRouter> & { readonly data: { readonly errorCode: Code } });

/**
 * Whether something is this error: `isError(error, 'products.notFound')`. An editor completes the code, and the compiler
 * refuses one that does not exist.
 * @typeParam Known the codes to choose from; with those of a host: `isError<ErrorCode | CodesOf<typeof taskErrors>>(…)`
 * @param error as for `describeFailure`
 */
export function isError<Known extends string = ErrorCode, Code extends Known = Known>(
  error: unknown,
  code: Code,
): error is ErrorWith<Code> {
  return (describeFailure(error).code as string | undefined) === code;
}

/** A failed call as an error with the fields of its failure. `cause` is what the client has thrown. */
export class TandemError extends Error implements Failure {
  override readonly name = 'TandemError';
  readonly status: number | undefined;
  readonly data: readonly string[];
  readonly code: ErrorCode | undefined;
  constructor(cause: unknown) {
    const { status, message, data, code } = describeFailure(cause);
    super(message, { cause });
    this.status = status;
    this.data = data;
    this.code = code;
  }
}

/** The client does not send a call in the name of another who has signed in meanwhile. */
export class SenderGone extends Error {}

/** Whether the same may succeed later: nobody has answered, too many have asked, or the server failed. */
export function mayPass(error: unknown): boolean {
  const { status = 503 } = describeFailure(error);
  return !isRefusal(error) && (status === 429 || status >= 500);
}

/** Whether a call may have been done although it failed: it was sent, and has no readable answer. */
export function isLost(error: unknown): boolean {
  if (!isTRPCClientError<AppRouter>(error) || error.cause instanceof SenderGone) return false;
  return error.data === undefined && error.meta?.['response'] === undefined;
}

/** Statuses that mean that a token is no longer valid. Others, such as 429 and 503, say nothing about it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 422]);

/** Whether the server itself refused the token or key, or its owner has gone, as opposed to a passing failure. */
export function isRefusal(error: unknown): boolean {
  if (!isTRPCClientError<AppRouter>(error)) return false;
  const { httpStatus = 0, errorCode } = error.data ?? {};
  return error.cause instanceof SenderGone || REFUSALS.has(httpStatus) || errorCode === 'keys.notAllowed';
}

/** A way to finish a sign-in. */
export type SecondStep = 'totp' | 'passkey' | 'recovery';

/** The password or one-time token was right, and a second step has to follow: `verifyMfa`. */
export class MfaRequiredError extends Error {
  override readonly name = 'MfaRequiredError';
  constructor(
    /** The challenge's token; valid for five minutes. */
    readonly token: string,
    /** What can follow: a code of an authenticator app, a passkey, a recovery code; nothing where a code was sent by mail. */
    readonly factors: readonly SecondStep[] = [],
  ) {
    super(factors.length > 0 ? 'a factor is needed: finish with verifyMfa' : 'a code was sent by mail: finish with verifyMfa');
  }
}
