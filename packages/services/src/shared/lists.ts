import { requestErrors, validationError } from '@tandem/core';
import {
  ListQueryError,
  ListTimeLimitError,
  NextTokenError,
  answerListRequest,
  createCountCache,
  type CountCache,
  type ListCollection,
  type ListResource,
  type StoreFilter,
} from '@tandem/list-query';
import type { BaseRecord, Model, Storage } from '@tandem/storage';
import type { z } from 'zod';
import type { ListAnswer } from './list-declaration.js';
import { requestOf, type ListQuery } from './list-query.js';
import { listErrors } from './lists.errors.js';

export type Lists = ReturnType<typeof createLists>;

/** A list as `defineList` declares it. */
interface DeclaredList<Row> {
  resource: ListResource;
  row: z.ZodType<Row>;
  related: Record<string, z.ZodType>;
}

/** Where related records are, and which of them the caller of the list may see. */
export interface Related {
  model: Model<BaseRecord>;
  scope?: StoreFilter;
  show(record: never): unknown;
}

interface ListSource<R, Row> {
  /** What this caller may see, whatever is asked for. Values of the right type: nothing converts them. */
  scope?: StoreFilter;
  show(record: R): Row;
  relations?: Record<string, Related>;
  /** Of the list itself, where it knows better than by the collection when a count is out of date. */
  countCache?: CountCache;
}

/** The longest that one operation of a list may run in the store. */
const MAX_TIME_MS = 5000;
/** Seconds after which a query that was stopped may be tried again: with less to ask, or when less goes on. */
const RETRY_AFTER_TIME_LIMIT = 2;

/**
 * Answers lists (decisions, "Lists").
 * @param cursorSecrets the first signs `$nextToken`, all are taken
 */
export function createLists({ storage, cursorSecrets }: { storage: Storage; cursorSecrets: readonly Uint8Array[] }) {
  const countsOfAll = createCountCache({ now: () => storage.clock.now().getTime() });
  storage.onWrite((collectionName) => countsOfAll.drop(collectionName));

  return {
    /**
     * One page of a list, whatever of it was asked for, read by the driver: Mongoose has nothing to add to a read without casts. The
     * resource's name is the collection's.
     * @throws validationError, listErrors.invalidNextToken, requestErrors.unavailable for a query that takes too long
     */
    async answer<R extends BaseRecord, Row>(
      { resource, row, related }: DeclaredList<Row>,
      model: Model<R>,
      { scope, show, relations = {}, countCache = countsOfAll }: ListSource<R, Row>,
      query: ListQuery,
    ): Promise<ListAnswer<Row>> {
      try {
        const request = requestOf(resource, query);
        // pages are checked by the output's schema; the other envelope has no schema for its rows, so they are checked here
        const checked = (given: (record: never) => unknown, schema: z.ZodType | undefined) => (record: unknown) => {
          const shown = given(record as never);
          return request.page || !schema ? shown : schema.parse(shown);
        };
        const sources = Object.entries(relations).map(([name, source]) => {
          const collection = source.model.collection as unknown as ListCollection;
          return [name, { collection, scope: source.scope ?? {}, show: checked(source.show, related[name]) }] as const;
        });
        return await answerListRequest<Row>(resource, request, {
          collection: model.collection,
          ...(scope && { scope }),
          cursorSecret: cursorSecrets,
          countCache,
          maxTimeMs: MAX_TIME_MS,
          show: request.page ? (show as (record: object) => unknown) : checked(show, row),
          ...(sources.length > 0 && { relations: Object.fromEntries(sources) }),
        });
      } catch (error) {
        throw translate(error);
      }
    },
  };
}

/** The library's errors in the words of the interface. */
function translate(error: unknown): unknown {
  if (error instanceof NextTokenError) return listErrors.invalidNextToken();
  if (error instanceof ListQueryError) return validationError(error.problems.map(({ message }) => message));
  if (error instanceof ListTimeLimitError) return requestErrors.unavailable({ retryAfter: RETRY_AFTER_TIME_LIMIT, cause: error });
  return error;
}
