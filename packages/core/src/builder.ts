import { initTRPC } from '@trpc/server';
import type { RequestContext } from './context.js';
import type { Meta } from './operation.js';

/** tRPC's builder for procedures and middlewares that get this context. */
export function builderFor<Context extends RequestContext>() {
  return initTRPC.context<Context>().meta<Meta>();
}
