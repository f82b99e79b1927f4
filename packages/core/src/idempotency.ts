import type { TRPCError } from '@trpc/server';
import type { Identity, RequestContext } from './context.js';
import { ApiError, requestErrors, validationError } from './errors.js';
import type { DescribedHeader, Operation } from './operation.js';
import { hostsError, middleware, withDeclaration } from './procedures.js';

/** The header of a create that may be sent again (decisions R6, E6), as the documents describe it. */
export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description: 'Makes the request safe to retry: for 24 h the same key and body return the same answer.',
  example: '5d0c3f1e',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const satisfies DescribedHeader;
const HEADER = 'idempotency-key';

/** Whether an operation takes an `Idempotency-Key`. */
export function takesKey({ options }: Pick<Operation, 'options'>): boolean {
  return options.headers?.includes(IDEMPOTENCY_KEY) ?? false;
}

/** A call with an `Idempotency-Key`. */
export interface KeyedCall {
  identityId: string;
  /** The tRPC path, which is the same on both faces. */
  operation: string;
  key: string;
  /** The input as it was given: as validated it may have another default each time. */
  given: unknown;
  /** As validated, by which earlier versions compared. */
  input: unknown;
}

/** A call that is being made: no other one with its key is until it has ended, or its process has died. */
export interface Attempt {
  /** The same ids in the same order each time, also for a later attempt. */
  newIds(): () => string;
  /** An earlier attempt has failed or died, and may have stored what it creates. */
  isRepeated: boolean;
  /** Stores what is answered whenever the call is made again. */
  keep(answer: unknown, etag?: string): Promise<void>;
  /**
   * Lets the next attempt begin.
   * @param isRefused nothing was stored, and the key may be used for something else
   */
  fail(isRefused: boolean): Promise<void>;
}

/** Stores the answers of calls with an `Idempotency-Key`. */
export interface KeptAnswers {
  /**
   * What was answered before, or else the attempt that the caller is to make. While another one is under way it waits.
   * @param patience ends the waiting by its reason
   * @throws requestErrors.keyReused
   */
  begin(call: KeyedCall, patience: () => AbortSignal | undefined): Promise<{ answer: unknown; etag?: string } | Attempt>;
}

/** Whether a result was kept from an earlier call, so that the procedure did not run. */
export const isKept = (result: object): boolean => 'isKept' in result;

/** @throws validationError */
function keyOf(header: string | string[]): string {
  const { minLength, maxLength } = IDEMPOTENCY_KEY.schema;
  if (typeof header === 'string' && header.length >= minLength && header.length <= maxLength) return header;
  throw validationError([`header '${IDEMPOTENCY_KEY.name}' must have ${minLength} to ${maxLength} characters`]);
}

/** @throws validationError for several calls in one request: each would need a key of its own */
export function refuseKeyOfBatch({ headers }: Pick<RequestContext, 'headers'>): void {
  if (headers[HEADER] !== undefined) throw validationError([`header '${IDEMPOTENCY_KEY.name}' must be sent with one call`]);
}

/**
 * Answers a call with an `Idempotency-Key` once, and the same whenever it is sent again. Stands after the input and
 * before the output, so that what is kept is what was answered. The key of a connection that carries many calls counts
 * for none of them.
 */
export const answerOnce = withDeclaration(
  middleware(async ({ ctx, path, meta, input, getRawInput, next }) => {
    const { [HEADER]: header } = ctx.headers;
    const { identity } = ctx as { identity?: Identity };
    const { keptAnswers } = ctx.server;
    if (header === undefined || !identity || !keptAnswers || ctx.calls) return next();
    const call = { identityId: identity.id, operation: path, key: keyOf(header), given: await getRawInput(), input };
    const attempt = await keptAnswers.begin(call, () => ctx.waiting?.signal);
    if ('answer' in attempt) {
      if (attempt.etag !== undefined) ctx.setHeader('etag', attempt.etag);
      // tRPC expects what `next` returns, of which it reads no more than `ok` and `data`
      return { ok: true, data: attempt.answer, isKept: true } as never;
    }
    const { newIds, isRepeated } = attempt;
    let etag: string | undefined;
    function setHeader(name: string, value: string): void {
      if (name === 'etag') etag = value;
      ctx.setHeader(name, value);
    }
    const result = await next({ ctx: { setHeader, newId: newIds(), ...(isRepeated && { earlierIds: newIds }) } });
    try {
      if (result.ok) await attempt.keep(withoutSecrets(result.data, meta?.rest?.shownOnce), etag);
    } catch (error) {
      await attempt.fail(false);
      throw error;
    }
    if (!result.ok) await attempt.fail(isRefusal(result.error));
    return result;
  }),
  { errors: [requestErrors.invalid, requestErrors.keyReused] },
);

/** Whether a failed call has surely stored nothing. */
function isRefusal(error: TRPCError): boolean {
  const refusal = error instanceof ApiError ? error : hostsError(error);
  // after a host's 408 nobody knows
  return refusal !== undefined && refusal.status < 500 && refusal.status !== 408;
}

function withoutSecrets(answer: unknown, names: readonly string[] = []): unknown {
  if (names.length === 0) return answer;
  return Object.fromEntries(Object.entries(answer as object).filter(([name]) => !names.includes(name)));
}
