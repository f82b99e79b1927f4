import { isTRPCClientError } from '@trpc/client';
import type { AppRouter } from './router-types.js';
import { UploadError } from './upload-error.js';

/** A failed call in the words of the REST face. */
export interface Failure {
  /** HTTP status; undefined when no answer came that could be read. */
  status: number | undefined;
  message: string;
  /** The problems of a failed validation, one text each; otherwise empty. */
  data: readonly string[];
}

/** What tRPC leaves on an error whose answer was not in its own shape: that of a proxy, or of a server that is starting. */
interface ForeignAnswer {
  response?: { status?: number };
  responseJSON?: { error?: { message?: unknown } } | null;
}

/**
 * What went wrong with a call: status, message and problems, as the REST face says them.
 * @param error anything that a call of the client has thrown
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UploadError) return { status: error.status, message: error.message, data: [] };
  if (!isTRPCClientError<AppRouter>(error))
    return { status: undefined, message: error instanceof Error ? error.message : String(error), data: [] };
  if (error.data) return { status: error.data.httpStatus, message: error.message, data: error.data.data ?? [] };
  const { response, responseJSON } = (error.meta ?? {}) as ForeignAnswer;
  const said = responseJSON?.error?.message;
  return { status: response?.status, message: typeof said === 'string' ? said : error.message, data: [] };
}

/** Statuses with which the server says that a token counts no more. Others, such as 429 and 503, say nothing about it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 422]);

/** Whether the server itself has refused the token, as opposed to a failure that may pass. */
export function isRefusal(error: unknown): boolean {
  return isTRPCClientError<AppRouter>(error) && REFUSALS.has(error.data?.httpStatus ?? 0);
}

/** The password, or the one-time token, was right, and the server wants the code that it has sent by mail: `verifyMfa`. */
export class MfaRequiredError extends Error {
  override readonly name = 'MfaRequiredError';
  constructor(
    /** Of the challenge; counts for five minutes. */
    readonly token: string,
  ) {
    super('a code was sent by mail: finish with verifyMfa');
  }
}
