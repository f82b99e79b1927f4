import type { AppRouter } from '@tandem/services';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';

export type { AppRouter };

/** What each procedure takes: `RouterInputs['notifications']['list']`. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** What each procedure answers: `RouterOutputs['notifications']['list']`. Dates are ISO strings. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;
