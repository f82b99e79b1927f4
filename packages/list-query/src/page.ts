import { Problems, problemOf } from './errors.js';
import { LIMITS } from './limits.js';
import { readParameters, type ListParameters, type ParameterPairs } from './parameters.js';
import { planList } from './plan.js';
import type { ListResource } from './resource.js';
import { runPlan, type ListQueryOptions, type ListResult } from './run.js';

/** A page by number, with the facts of decisions L1. */
export interface ListPage<Row = Record<string, unknown>> {
  data: Row[];
  metadata: {
    pagination: { page: number; limit: number; total: number; totalPages: number; hasNext: boolean; hasPrev: boolean };
  };
}

/** With any of them the answer is `{ total, count, value }`. */
const OTHER_STYLE = ['skip', 'top', 'nextToken', 'apply'] as const satisfies (keyof ListParameters)[];

/**
 * Answers an endpoint that lists: by `page` and `limit`, or, with any of `$skip`, `$top`, `$nextToken`, `$apply`, as `runListQuery` does
 * (decisions L1).
 * @throws ListQueryError (400) for wrong parameters or both styles at once, ListTimeLimitError (503)
 */
export async function answerList<Row = Record<string, unknown>>(
  resource: ListResource,
  pairs: ParameterPairs,
  options: ListQueryOptions,
): Promise<ListPage<Row> | ListResult<Row>> {
  const problems = new Problems();
  const given = readParameters(pairs, problems, true);
  const other = OTHER_STYLE.find((name) => given[name] !== undefined);
  for (const name of ['page', 'limit'] as const) {
    if (other !== undefined && given[name] !== undefined)
      problems.add(problemOf(name, `cannot be used together with '$${other}'`));
  }
  if (other !== undefined) {
    const plan = planList(resource, { ...given, top: given.top ?? LIMITS.defaultTop }, options, problems);
    return (await runPlan(plan, resource, options)) as ListResult<Row>;
  }
  const { page = LIMITS.defaultPage, limit = LIMITS.defaultLimit } = given;
  const plan = planList(resource, { ...given, skip: (page - 1) * limit, top: limit }, options, problems);
  const { total, value } = (await runPlan(plan, resource, { ...options, cursorSecret: undefined })) as ListResult<Row>;
  const totalPages = Math.max(1, Math.ceil(total / limit));
  const pagination = { page, limit, total, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
  return { data: value, metadata: { pagination } };
}
