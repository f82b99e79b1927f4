import { ListQueryError, bindListRequest, type ListParameters, type ListRequest, type ListResource } from '@tandem/list-query';
import type { z } from 'zod';

/** What a list is asked for, validated: the parameters of decisions L1 by their names on the wire. */
export interface ListQuery {
  page?: number | undefined;
  limit?: number | undefined;
  $filter?: string | undefined;
  $orderby?: string | undefined;
  $orderBy?: string | undefined;
  $expand?: string | undefined;
  $apply?: string | undefined;
  $skip?: number | undefined;
  $top?: number | undefined;
  $nextToken?: string | undefined;
}

/** What the validation of an input has bound already, so that its handler need not again. */
const requests = new WeakMap<object, ListRequest>();

const DOLLAR = 36;

/** Whether more is asked for than `page` and `limit`: what is dear to check is not looked at otherwise. */
export function asksMore(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  for (const key in input) if (key.charCodeAt(0) === DOLLAR) return true;
  return false;
}

/** Text and numbers alone: of what has another type the schema says so. */
function parametersOf(query: ListQuery): ListParameters {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
  return {
    page: number(query.page),
    limit: number(query.limit),
    skip: number(query.$skip),
    top: number(query.$top),
    filter: text(query.$filter),
    orderby: text(query.$orderby ?? query.$orderBy),
    expand: text(query.$expand),
    apply: text(query.$apply),
    nextToken: text(query.$nextToken),
  };
}

/** The check of an input's list parameters against a resource: its problems stand beside those of the schema. */
export function checkListQuery(resource: ListResource) {
  return (query: ListQuery, check: z.RefinementCtx): void => {
    const add = (parameter: string, message: string) => check.addIssue({ code: 'custom', path: [parameter], message });
    if (query.$orderby !== undefined && query.$orderBy !== undefined) add('$orderBy', 'must be given once');
    try {
      requests.set(query, bindListRequest(resource, parametersOf(query)));
    } catch (error) {
      if (!(error instanceof ListQueryError)) throw error;
      for (const { parameter, message } of error.problems) add(parameter, withoutPlace(message, parameter));
    }
  };
}

/** The library names the parameter in its texts, as the validation does by itself. */
function withoutPlace(message: string, parameter: string): string {
  const place = `query parameter '${parameter}' `;
  return message.startsWith(place) ? message.slice(place.length) : message;
}

/** The request of a query: from its validation, or bound now where code asks without one. @throws ListQueryError */
export function requestOf(resource: ListResource, query: ListQuery): ListRequest {
  return (
    requests.get(query) ??
    bindListRequest(resource, asksMore(query) ? parametersOf(query) : { page: query.page, limit: query.limit })
  );
}
