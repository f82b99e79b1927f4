import { requestErrors, validationError, type ApiError, type Log } from '@tandem/core';
import {
  ListQueryError,
  ListTimeLimitError,
  NextTokenError,
  answerListRequest,
  createCountCache,
  createGate,
  limitStore,
  type Caller,
  type CountCache,
  type ListCollection,
  type ListResource,
  type RelatedSources,
  type StoreFilter,
} from '@tandem/list-query';
import type { BaseRecord, Model, Storage } from '@tandem/storage';
import type { z } from 'zod';
import type { ListAnswer } from './list-declaration.js';
import { callerOf, signalOf, togetherOf } from './asked-by.js';
import { createFitting, type Fitting } from './fitting.js';
import { isOnePage } from './list-indexes.js';
import { requestOf, type ListQuery } from './list-query.js';
import { listErrors } from './lists.errors.js';

export type Lists = ReturnType<typeof createLists>;

/** A list as `defineList` declares it. */
interface DeclaredList<Row> {
  resource: ListResource;
  row: z.ZodType<Row>;
  equalTo(query: object): StoreFilter;
}

/** Where related records are, and which of them the caller of the list may see. */
export interface Related {
  model: Model<BaseRecord>;
  /** What one of them is. */
  row: z.ZodType;
  scope?: StoreFilter;
  show(record: never): unknown;
}

/** Where the rows are: a model, or what `viewOf` makes of one. */
export interface ListRows {
  collection: unknown;
  isView: true;
}

interface ListSource<R, Row> {
  /** What this caller may see, whatever is asked for. Values of the right type: nothing converts them. */
  scope?: StoreFilter;
  /** What `$nextToken` is bound to instead, where the scope names the time, or is in a view. */
  cursorScope?: StoreFilter;
  show(record: R): Row;
  /** Fills in what takes another query, in all rows of a page at once. */
  complete?(rows: Row[]): Promise<void>;
  relations?: Record<string, Related>;
  /** Of the list itself, where it knows better than by the collection when a count is out of date. */
  countCache?: CountCache;
}

/** The longest that one command of a list may run in the store, in ms (decisions H1). */
const MAX_TIME_MS = 5000;
const ANONYMOUS_MAX_TIME_MS = 3000;
const maxTimeOf = ({ isAnonymous }: Caller) => (isAnonymous ? ANONYMOUS_MAX_TIME_MS : MAX_TIME_MS);
/** Seconds after which a query that was stopped may be tried again: with less to ask, or when less goes on. */
const RETRY_AFTER_TIME_LIMIT = 2;

interface ListsOptions {
  storage: Storage;
  cursorSecrets: readonly Uint8Array[];
  log: Log;
}

/**
 * Answers lists (decisions, "Lists").
 * @param cursorSecrets the first signs `$nextToken`, all are taken
 */
export function createLists({ storage, cursorSecrets, log }: ListsOptions) {
  const fit = createFitting(log);
  const countsOfAll = createCountCache({ now: () => storage.clock.now().getTime() });
  storage.onWrite((collectionName) => countsOfAll.drop(collectionName));
  // the rest of the connections are for pages by an index, reads by id, sessions and writes
  const atOnce = Math.max(1, Math.floor(storage.connections().size / 4));
  const gate = createGate({ atOnce, anonymousAtOnce: Math.max(1, Math.floor(atOnce / 2)) });

  return {
    /** A stored record as a row of its list; undefined, and logged once a process, where it does not fit the list's schema (decisions H20). */
    fit: <R extends object, Row>({ resource, row }: DeclaredList<Row>, record: R, show: (record: R) => Row): Row | undefined =>
      fit(resource.name, row, record, show),

    /**
     * A stored record as its own answer shows it: the row that it is in its list.
     * @throws what `missing` makes, where there is no record, or it does not fit the list's schema (decisions H20)
     */
    one<R extends object, Row>({ resource, row }: DeclaredList<Row>, show: (record: R) => Row) {
      return (record: R | null | undefined, missing: () => ApiError): Row => {
        const shown = record && fit(resource.name, row, record, show);
        if (!shown) throw missing();
        return shown;
      };
    },

    /**
     * What a list has to know before it can be asked for, by one aggregate that waits for its turn and has the limits of the list itself.
     * @param parameter the one that is named where the store cannot hold what it asks for
     * @throws validationError, requestErrors.unavailable for what takes too long
     */
    async read(
      { collection }: { collection: unknown },
      stages: object[],
      parameter: string,
      query: ListQuery,
    ): Promise<object[]> {
      const caller = callerOf(query);
      const signal = signalOf(query);
      const store = limitStore(collection as ListCollection, { maxTimeMs: maxTimeOf(caller), signal }, parameter);
      return gate(caller, () => store.aggregate(stages as Record<string, unknown>[]), signal).catch((error: unknown) => {
        throw toListFailure(error);
      });
    },

    /**
     * One page of a list, whatever of it was asked for, read by the driver: Mongoose has nothing to add to a read without casts. Counts are
     * kept where the resource has the collection's name: it is by that name that writes are known.
     * @throws validationError, listErrors.invalidNextToken, requestErrors.unavailable for a query that takes too long
     */
    async answer<R extends object, Row>(
      { resource, row, equalTo }: DeclaredList<Row>,
      rows: Model<R & BaseRecord> | ListRows,
      { scope, cursorScope, show, complete, relations = {}, countCache }: ListSource<R, Row>,
      query: ListQuery,
    ): Promise<ListAnswer<Row>> {
      const collection = rows.collection as ListCollection;
      const counts = countCache ?? (collection.collectionName === resource.name ? countsOfAll : undefined);
      try {
        const request = requestOf(resource, query);
        const within = { ...equalTo(query), ...scope };
        const caller = callerOf(query);
        const isQuick = !('isView' in rows) && isOnePage(resource, within, request);
        const isExpanded = request.bound.expansions.length > 0;
        // a page by an index has ended before anybody could end it
        const signal = isQuick && !isExpanded ? undefined : signalOf(query);
        const together = isExpanded ? togetherOf(query) : undefined;
        const shown: Row[] = [];
        const answer = await answerListRequest<Row>(resource, request, {
          collection,
          scope: within,
          ...(cursorScope && { cursorScope: { ...equalTo(query), ...cursorScope } }),
          cursorSecret: cursorSecrets,
          ...(counts && { countCache: counts }),
          maxTimeMs: maxTimeOf(caller),
          isOnePage: isQuick,
          gate,
          caller,
          ...(signal && { signal }),
          show(record) {
            const one = fit(resource.name, row, record as R, show);
            if (one !== undefined) shown.push(one);
            return one;
          },
          ...(isExpanded && { relations: sourcesOf(relations, fit), together }),
        });
        if (complete && shown.length > 0) await complete(shown);
        // pages are checked by the output's schema; the other envelope has none for its rows, which may be computed ones
        if (!request.page) for (const one of shown) leaveOut(one as object, row.parse(one) as object);
        return answer;
      } catch (error) {
        throw toListFailure(error);
      }
    },
  };
}

function sourcesOf(relations: Record<string, Related>, fit: Fitting): RelatedSources {
  const sources = Object.entries(relations).map(([name, { model, row, scope, show }]) => {
    const collection = model.collection as unknown as ListCollection;
    return [
      name,
      {
        collection,
        show: (record: object) => fit(collection.collectionName, row, record, show as (record: object) => unknown),
        ...(scope && { scope }),
      },
    ] as const;
  });
  return Object.fromEntries(sources);
}

/** Takes out of a row what its schema does not let leave. */
function leaveOut(row: object, parsed: object): void {
  for (const key of Object.keys(row)) if (!Object.hasOwn(parsed, key)) Reflect.deleteProperty(row, key);
  Object.assign(row, parsed);
}

/** The library's errors in the words of the interface. */
export function toListFailure(error: unknown): unknown {
  if (error instanceof NextTokenError) return listErrors.invalidNextToken();
  if (error instanceof ListQueryError) return validationError(error.problems.map(({ message }) => message));
  if (error instanceof ListTimeLimitError) return requestErrors.unavailable({ retryAfter: RETRY_AFTER_TIME_LIMIT, cause: error });
  return error;
}
