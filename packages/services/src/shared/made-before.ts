import { answerOnce, type AuthenticatedContext, type DescribedHeader, IDEMPOTENCY_KEY } from '@tandem/core';
import { isDuplicateKey, notOnMajority } from '@tandem/storage';
import type { z } from 'zod';

type Middleware = typeof answerOnce;
type Schema = z.ZodType;

/** How a create finds what an earlier attempt with its `Idempotency-Key` has stored. */
export interface MadeBefore<In extends Schema, Out extends Schema> {
  /**
   * The answer for what an earlier attempt has stored; undefined where it has stored nothing. Without it, an attempt
   * whose process died just after the record was stored can only be repeated if the handler finds the record itself.
   * @param newId makes the ids that the handler got from `ctx.newId`, in the same order
   */
  made?(newId: () => string, call: { input: z.output<In>; ctx: AuthenticatedContext }): Promise<z.input<Out> | undefined>;
}

const passOn = (({ next }: { next: () => unknown }) => next()) as unknown as Middleware;

/** Accounts and tokens are not made again. */
const isBelowAuth = (route: string) => route.startsWith('POST /auth/');

/** The headers of a create. */
export const createHeaders = (route: string): readonly DescribedHeader[] => (isBelowAuth(route) ? [] : [IDEMPOTENCY_KEY]);

/** Makes a create answer the same when its `Idempotency-Key` is sent again. Stands before its output. */
export const once = (route: string): Middleware => (isBelowAuth(route) ? passOn : answerOnce);

/** Looks for what an earlier attempt has stored before the handler makes it. Stands after the output. */
export function orMade<In extends Schema, Out extends Schema>(made: MadeBefore<In, Out>['made']): Middleware {
  if (!made) return passOn;
  interface Call {
    ctx: AuthenticatedContext;
    input: z.output<In>;
    next(): Promise<{ ok: true } | { ok: false; error: Error }>;
  }
  async function find({ ctx, input, next }: Call) {
    const { earlierIds } = ctx;
    if (!earlierIds) return next();
    const before = await made?.(earlierIds(), { input, ctx });
    if (before !== undefined) return { ok: true, data: before };
    const result = await next();
    const refused = !result.ok && isDuplicateKey(result.error);
    // what the driver tells of a write of many has no fields
    if (result.ok || !refused || !(refused.index === '_id_' || refused.fields.includes('_id'))) return result;
    // the earlier attempt was still on its way
    const data = await made?.(earlierIds(), { input, ctx });
    if (data === undefined) throw notOnMajority('a record that was refused as made');
    return { ok: true, data };
  }
  return find as unknown as Middleware;
}
