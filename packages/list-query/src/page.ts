import { Problems, problemOf } from './errors.js';
import { LIMITS } from './limits.js';
import { readParameters, type ListParameters, type ParameterPairs } from './parameters.js';
import { bindList, planBound, type BoundList } from './plan.js';
import type { ListResource } from './resource.js';
import type { RowFields } from './select.js';
import { foundBy, runPlan, type ListQueryOptions, type ListResult } from './run.js';

/** A page by number, in the envelope of decisions L1. */
export interface ListPage<Row = Record<string, unknown>> {
  data: Row[];
  metadata: {
    pagination: { page: number; limit: number; total: number; totalPages: number; hasNext: boolean; hasPrev: boolean };
  };
}

/** Any of these selects the answer `{ total, count, value }`. */
const OTHER_STYLE = ['skip', 'top', 'nextToken', 'apply'] as const satisfies (keyof ListParameters)[];

/** A request to a list endpoint, checked against its resource; the caller is not known yet. */
export interface ListRequest {
  bound: BoundList;
  /** Undefined where the answer is `{ total, count, value }`. */
  page: { page: number; limit: number } | undefined;
}

/**
 * Checks the parameters of a list endpoint, without asking the store.
 * @param given numbers within their bounds, texts as received
 * @param rows what `$select` may name; by default what `showRecord` shows
 * @throws ListQueryError (400) for wrong parameters, or both styles at once
 */
export function bindListRequest(
  resource: ListResource,
  given: ListParameters,
  problems = new Problems(),
  rows?: RowFields,
): ListRequest {
  const other = OTHER_STYLE.find((name) => given[name] !== undefined);
  if (other === undefined) {
    const { page = LIMITS.defaultPage, limit = LIMITS.defaultLimit } = given;
    return {
      bound: bindList(resource, { ...given, skip: (page - 1) * limit, top: limit }, problems, rows),
      page: { page, limit },
    };
  }
  for (const name of ['page', 'limit'] as const)
    if (given[name] !== undefined) problems.add(problemOf(name, `cannot be used together with '$${other}'`));
  return { bound: bindList(resource, { ...given, top: given.top ?? LIMITS.defaultTop }, problems, rows), page: undefined };
}

/**
 * Answers a list request: by `page` and `limit`, or, with any of `$skip`, `$top`, `$nextToken`, `$apply`, as
 * `runListQuery` does (decisions L1).
 * @throws ListQueryError (400) for a `$nextToken` of another query, ListTimeLimitError (503)
 */
export async function answerListRequest<Row = Record<string, unknown>>(
  resource: ListResource,
  { bound, page: asked }: ListRequest,
  options: ListQueryOptions,
): Promise<ListPage<Row> | ListResult<Row>> {
  const plan = planBound(resource, bound, { ...options, found: await foundBy(options, resource, bound) });
  if (!asked) return (await runPlan(plan, resource, options)) as ListResult<Row>;
  const { page, limit } = asked;
  const { total, value } = (await runPlan(plan, resource, { ...options, cursorSecret: undefined })) as ListResult<Row>;
  const totalPages = Math.max(1, Math.ceil(total / limit));
  const pagination = { page, limit, total, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
  return { data: value, metadata: { pagination } };
}

/**
 * Answers a list endpoint from its raw parameters.
 * @throws ListQueryError (400) for wrong parameters or both styles at once, ListTimeLimitError (503)
 */
export async function answerList<Row = Record<string, unknown>>(
  resource: ListResource,
  pairs: ParameterPairs,
  options: ListQueryOptions,
): Promise<ListPage<Row> | ListResult<Row>> {
  const problems = new Problems();
  const request = bindListRequest(resource, readParameters(pairs, problems, true), problems);
  return answerListRequest(resource, request, options);
}
