import { isTRPCClientError } from '@trpc/client';
import type { AppRouter } from './router-types.js';
import { UploadError } from './upload-error.js';

/** A failed call, with the fields of the REST face. */
export interface Failure {
  /** HTTP status; undefined when there was no readable answer. */
  status: number | undefined;
  message: string;
  /** The problems of a failed validation, one text each; otherwise empty. */
  data: readonly string[];
}

/** What tRPC keeps of an error answer that is not in its format: from a proxy, or a server that is starting. */
interface ForeignAnswer {
  response?: { status?: number };
  responseJSON?: { error?: { message?: unknown } } | null;
}

/**
 * What went wrong with a call: status, message and problems, as on the REST face.
 * @param error anything that a call of the client has thrown
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof TandemError) return { status: error.status, message: error.message, data: error.data };
  if (error instanceof UploadError) return { status: error.status, message: error.message, data: [] };
  if (!isTRPCClientError<AppRouter>(error))
    return { status: undefined, message: error instanceof Error ? error.message : String(error), data: [] };
  if (error.data) return { status: error.data.httpStatus, message: error.message, data: error.data.data ?? [] };
  const { response, responseJSON } = (error.meta ?? {}) as ForeignAnswer;
  const said = responseJSON?.error?.message;
  return { status: response?.status, message: typeof said === 'string' ? said : error.message, data: [] };
}

/** A failed call as an error with the fields of its failure. `cause` is what the client has thrown. */
export class TandemError extends Error implements Failure {
  override readonly name = 'TandemError';
  readonly status: number | undefined;
  readonly data: readonly string[];
  constructor(cause: unknown) {
    const { status, message, data } = describeFailure(cause);
    super(message, { cause });
    this.status = status;
    this.data = data;
  }
}

/** Statuses that mean that a token is no longer valid. Others, such as 429 and 503, say nothing about it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 422]);

/** Whether the server itself refused the token, as opposed to a passing failure. */
export function isRefusal(error: unknown): boolean {
  return isTRPCClientError<AppRouter>(error) && REFUSALS.has(error.data?.httpStatus ?? 0);
}

/** The password or one-time token was right, and the server requires the code that it has sent by mail: `verifyMfa`. */
export class MfaRequiredError extends Error {
  override readonly name = 'MfaRequiredError';
  constructor(
    /** The challenge's token; valid for five minutes. */
    readonly token: string,
  ) {
    super('a code was sent by mail: finish with verifyMfa');
  }
}
