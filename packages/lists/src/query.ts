import {
  ListQueryError,
  bindListRequest,
  type ListParameters,
  type ListRequest,
  type ListResource,
  type RowFields,
} from '@tandem/list-query';
import type { z } from 'zod';

/** A validated list query: the parameters of decisions L1 by their wire names. */
export interface ListQuery {
  page?: number | undefined;
  limit?: number | undefined;
  $filter?: string | undefined;
  $search?: string | undefined;
  $orderby?: string | undefined;
  $orderBy?: string | undefined;
  $expand?: string | undefined;
  $select?: string | undefined;
  $apply?: string | undefined;
  $skip?: number | undefined;
  $top?: number | undefined;
  $nextToken?: string | undefined;
}

/** Requests that input validation has bound, so that the handler need not bind them again. */
const requests = new WeakMap<object, { resource: ListResource; request: ListRequest }>();

const DOLLAR = 36;

/** Whether the query has parameters beyond `page` and `limit`. Only then is the expensive check worth running. */
export function asksMore(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  for (const key in input) if (key.charCodeAt(0) === DOLLAR) return true;
  return false;
}

/** Keeps text and numbers only; the schema reports values of other types. */
function parametersOf(query: ListQuery): ListParameters {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return {
    page: number(query.page),
    limit: number(query.limit),
    skip: number(query.$skip),
    top: number(query.$top),
    filter: text(query.$filter),
    search: text(query.$search),
    orderby: text(query.$orderby ?? query.$orderBy),
    expand: text(query.$expand),
    select: text(query.$select),
    apply: text(query.$apply),
    nextToken: text(query.$nextToken),
  };
}

/**
 * Checks the list parameters of an input against a resource. The problems are reported together with those of the schema, unless
 * guarded fields make a difference: then the list, which knows its caller, reports them where nothing else is wrong.
 */
export function checkListQuery(
  resource: ListResource,
  rows: RowFields,
  whole?: { resource: ListResource; rowFields: RowFields },
) {
  return (query: ListQuery, check: z.RefinementCtx): void => {
    const add = (parameter: string, message: string) => check.addIssue({ code: 'custom', path: [parameter], message });
    if (query.$orderby !== undefined && query.$orderBy !== undefined) add('$orderBy', 'must be given once');
    const bound = bind(resource, query, rows);
    if ('request' in bound) return void requests.set(query, bound);
    const isGuarded = whole && problemsOf(bind(whole.resource, query, whole.rowFields)).join() !== problemsOf(bound).join();
    if (isGuarded && check.issues.length === 0) return;
    for (const { parameter, message } of bound.problems) add(parameter, withoutPlace(message, parameter));
  };
}

type Bound = { resource: ListResource; request: ListRequest } | Pick<ListQueryError, 'problems'>;

function bind(resource: ListResource, query: ListQuery, rows: RowFields): Bound {
  try {
    return { resource, request: bindListRequest(resource, parametersOf(query), undefined, rows) };
  } catch (error) {
    if (error instanceof ListQueryError) return error;
    throw error;
  }
}

function problemsOf(bound: Bound): string[] {
  return 'problems' in bound ? bound.problems.map(({ message }) => message) : [];
}

/** Removes the parameter name that the library puts before its messages; the validation adds it again. */
export function withoutPlace(message: string, parameter: string): string {
  const place = `query parameter '${parameter}' `;
  return message.startsWith(place) ? message.slice(place.length) : message;
}

/**
 * The bound request of a query: the one from its validation, else bound now, for host code that skips validation and for guarded fields. @throws
 * ListQueryError
 */
export function requestOf(resource: ListResource, rows: RowFields, query: ListQuery): ListRequest {
  const bound = requests.get(query);
  if (bound?.resource === resource) return bound.request;
  const given = asksMore(query) ? parametersOf(query) : { page: query.page, limit: query.limit };
  return bindListRequest(resource, given, undefined, rows);
}
