import type { TRPCMiddlewareBuilder } from '@trpc/server';
import { builderFor } from './builder.js';
import type { RequestContext } from './context.js';
import type { ErrorDefinition } from './errors.js';
import type { Meta } from './operation.js';
import { withDeclaration } from './procedures.js';

const trpc = builderFor<RequestContext>().create();

/** A middleware for `.use(...)` of a procedure whose input, so far, is an `Input`. */
export type Guard<Input> = TRPCMiddlewareBuilder<RequestContext, Meta, object, Input>;

/**
 * Makes a check for any procedure, public ones included. Placed before `.input`, it runs before the body is read;
 * placed after, it gets the validated input (decisions T6).
 * @param check returns to pass, throws one of `errors` to refuse
 */
export function defineGuard<Input = unknown>(
  errors: readonly ErrorDefinition[],
  check: (call: { ctx: RequestContext; input: Input }) => Promise<void> | void,
): Guard<Input> {
  const guard = trpc.middleware(async ({ ctx, input, next }) => {
    await check({ ctx, input: input as Input });
    return next();
  });
  return withDeclaration(guard, { errors });
}
