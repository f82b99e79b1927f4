import { toEnvelope, type ErrorEnvelope } from '../answer.js';
import type { RequestContext } from '../context.js';
import { describeError } from '../error-log.js';
import { ApiError, ERROR_CODE_HEADER, requestErrors } from '../errors.js';
import type { Operation } from '../operation.js';
import { callProcedure } from '../rest/call-procedure.js';

/** Most bytes of an answer's JSON: about 250,000 tokens, more than most models can read. */
const ANSWER_MAX = 1024 * 1024;
const TOO_LARGE =
  'The answer is larger than 1 MiB. Ask for fewer rows with `limit` or `$top`, or for fewer fields with `$select`.';

/** What REST would answer: the status, and the body of success or the envelope of an error, with what headers say there. */
export interface CallAnswer {
  status: number;
  body?: unknown;
  /** Of an error. */
  errorCode?: string | undefined;
  /** Seconds after which the same call may succeed. */
  retryAfter?: number;
}

/** The answer of an error, which is logged if no procedure has logged it. */
export function failureOf(error: unknown, { server, requestId }: RequestContext): CallAnswer & { body: ErrorEnvelope } {
  if (!(error instanceof ApiError))
    server.log.error({ err: describeError(error), requestId }, 'unexpected failure outside the procedures');
  const { status, headers, body } = toEnvelope(error, server.development);
  const { [ERROR_CODE_HEADER]: errorCode, 'retry-after': retryAfter } = headers;
  return { status, body, errorCode, ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }) };
}

/**
 * Calls an operation as the tRPC face does.
 * @param operation undefined for a name that there is not: answered as REST answers an unknown route
 * @returns the answer, and whether it is an error
 */
export async function callOperation(
  operation: Operation | undefined,
  input: unknown,
  ctx: RequestContext,
): Promise<{ answer: CallAnswer; isError: boolean }> {
  try {
    if (!operation) throw requestErrors.noSuchRoute();
    const { name: path, procedure, status } = operation;
    const output = await callProcedure(procedure, {
      ctx,
      path,
      type: procedure._def.type,
      getRawInput: () => Promise.resolve(input),
      signal: undefined,
      batchIndex: 0,
    });
    if (output === undefined) return { answer: { status: 204 }, isError: false };
    if (Buffer.byteLength(JSON.stringify(output)) > ANSWER_MAX)
      return { answer: { status, body: { error: { message: TOO_LARGE } } }, isError: true };
    return { answer: { status, body: output }, isError: false };
  } catch (error) {
    return { answer: failureOf(error, ctx), isError: true };
  }
}
