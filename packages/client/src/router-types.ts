import type { AppRouter } from '@tandem/services';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';

export type { AppRouter };

/** The input of each procedure: `RouterInputs['notifications']['list']`. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** The output of each procedure: `RouterOutputs['notifications']['list']`. Dates are ISO strings. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;
