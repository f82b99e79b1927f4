import { requestErrors, validationError, type ApiError, type Log } from '@tandem/core';
import {
  ListQueryError,
  ListTimeLimitError,
  NextTokenError,
  answerListRequest,
  createCountCache,
  createGate,
  expandOne,
  leadingTo,
  limitStore,
  selectedOnly,
  type Caller,
  type CountCache,
  type ListCollection,
  type ListQueryOptions,
  type ListResource,
  type RowFields,
  type StoreFilter,
} from '@tandem/list-query';
import { TRACE, type BaseRecord, type Model, type Storage } from '@tandem/storage';
import type { z } from 'zod';
import type { ListAnswer } from './declaration.js';
import { answerInTurn, callerOf, isAskedByAdmin, signalOf } from './asked-by.js';
import { NO_EXTENSION, type Extension } from './extension.js';
import { createFitting } from './fitting.js';
import { isOnePage } from './indexes.js';
import { requestOf, type ListQuery } from './query.js';
import { listErrors } from './lists.errors.js';
import { createToldKinds } from './told.js';
import { createRelatedOrigins, type Completion, type Relations } from './related.js';
import { searchWith, storedSearch, type SearchDriver } from './search.js';
import { expansionsIn, type ReadQuery } from './reads.js';
import { markSelected, partOf, selectedIn } from './selection.js';

export type Lists = ReturnType<typeof createLists>;

/** A projection with the version of the record, which its answer is tagged with. */
function withVersion(projection: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { [TRACE]: hidden, ...others } = projection;
  return hidden === undefined ? { ...others, [`${TRACE}.version`]: 1 } : others;
}

/** A list declared with `defineList`. */
export interface DeclaredList<Row> {
  resource: ListResource;
  row: z.ZodType<Row>;
  rowFields: RowFields;
  /** With the guarded fields, which admins alone see and ask of. */
  whole?: { resource: ListResource; rowFields: RowFields };
  relations: Relations;
  equalTo(query: object): StoreFilter;
}

/** A model, or a view made by `viewOf`. */
export interface ListRows {
  collection: unknown;
  isView: true;
}

export interface ListSource<R, Row> {
  /** Limits the list to what this caller may see. Nothing casts the values, so they must have the stored type. */
  scope?: StoreFilter;
  /** Replaces `scope` in the binding of `$nextToken`, for a scope that contains the time or is part of a view. */
  cursorScope?: StoreFilter;
  show(record: R): Row;
  /** Functions that set a field by another query, for all rows of a page at once. One that sets several runs once. */
  complete?: { readonly [Name in keyof Row]?: Completion<Row> };
  /** A count cache of this list, for lists that know better than the collection's writes when a count is stale. */
  countCache?: CountCache;
}

/** Time limit for one database command of a list, in ms (decisions H1). */
const MAX_TIME_MS = 5000;
const ANONYMOUS_MAX_TIME_MS = 3000;
const maxTimeOf = ({ isAnonymous }: Caller) => (isAnonymous ? ANONYMOUS_MAX_TIME_MS : MAX_TIME_MS);
/** Seconds until a client may retry a stopped query. */
const RETRY_AFTER_TIME_LIMIT = 2;

interface ListsOptions {
  storage: Storage;
  cursorSecrets: readonly Uint8Array[];
  log: Log;
  /** Answers `$search`. Default: by the index that storage keeps. */
  search?: SearchDriver | undefined;
  /** Adds the fields that this host declares. */
  extension?: Extension;
}

/**
 * Creates the function that answers lists (decisions L1 to L6).
 * @param cursorSecrets the first signs `$nextToken`; all are accepted
 */
export function createLists({ storage, cursorSecrets, log, search = storedSearch, extension = NO_EXTENSION }: ListsOptions) {
  const { list: extend } = extension;
  const fit = createFitting(log);
  const origins = createRelatedOrigins(fit, extension);
  const told = createToldKinds(fit, extension);
  const countsOfAll = createCountCache({ now: () => storage.clock.now().getTime() });
  storage.onWrite((collectionName) => countsOfAll.drop(collectionName));
  // three quarters of the pool stay free for indexed pages, reads by id, sessions and writes
  const atOnce = Math.max(1, Math.floor(storage.connections().size / 4));
  const gate = createGate({ atOnce, anonymousAtOnce: Math.max(1, Math.floor(atOnce / 2)) });

  /**
   * Embeds the related records that `$expand` asks for in one shown record (decisions N2).
   * @param record what is stored of it, with the fields that lead to the related records
   * @throws validationError for an unknown relation, and when the answer would hold too much
   */
  async function expanded<Row extends object>(relations: Relations, record: object, shown: Row, query: ReadQuery): Promise<Row> {
    if (query.$expand === undefined) return shown;
    const [caller, signal] = [callerOf(query), signalOf(query)];
    const options = { relations: origins.sourcesOf(relations, query), maxTimeMs: maxTimeOf(caller), gate, caller, signal };
    try {
      return await answerInTurn(query, async () => {
        await expandOne(record, shown, expansionsIn(query, relations), options);
        return shown;
      });
    } catch (error) {
      throw toListFailure(error);
    }
  }

  return {
    /**
     * Shows a stored record as a row of its list. Returns undefined, and logs the id once per process, if the record does not fit
     * the list's schema (decisions H20).
     */
    fit<R extends object, Row>(list: DeclaredList<Row>, record: R, show: (record: R) => Row): Row | undefined {
      const { resource, row } = extend(list);
      return fit(resource.name, row, record, show);
    },

    /**
     * Returns a function that shows a single stored record like a row of its list.
     * @throws the error of `missing` when there is no record, or when it does not fit the list's schema (decisions H20)
     */
    one<R extends object, Row>(list: DeclaredList<Row>, show: (record: R) => Row) {
      const { resource, row } = extend(list);
      return (record: R | null | undefined, missing: () => ApiError): Row => {
        const shown = record && fit(resource.name, row, record, show);
        if (!shown) throw missing();
        return shown;
      };
    },

    /** Says where the related records of a kind are. */
    relate: origins.relate,

    ...told,

    expanded,

    /**
     * Reads one record and shows it like a row of its list, with what `$expand` asks for. With `$select` it reads only the selected
     * fields, those that these are made of and those that the caller `needs`; the route then leaves out all but the selected ones.
     * @throws the error of `missing` when there is no record, or when it does not fit the list's schema (decisions H20);
     * validationError for an unknown field
     */
    async find<R extends BaseRecord, Row extends object>(
      declared: DeclaredList<Row>,
      model: Model<R>,
      filter: object,
      { show, complete = {}, needs = [] }: Pick<ListSource<R, Row>, 'show' | 'complete'> & { needs?: readonly string[] },
      missing: () => ApiError,
      query: ReadQuery = {},
    ): Promise<Row> {
      const list = extend(declared);
      const { row, relations } = list;
      const { resource, rowFields } = seenBy(list, query);
      const expansions = expansionsIn(query, relations);
      const asked = attempt(() => selectedIn(query, rowFields, expansions));
      const selected = asked && new Set([...asked, ...needs]);
      const projection = selected ? selectedOnly(resource, selected, rowFields, leadingTo(expansions)) : resource.projection;
      const record = await (model as unknown as Model<BaseRecord>).findOne(filter, withVersion(projection)).lean<R>();
      const shown = record && fit(resource.name, selected ? partOf(row, madeOf(selected, rowFields)) : row, record, show);
      if (!shown) throw missing();
      await Promise.all([completeRows<Row>([shown], complete, selected), expanded(relations, record, shown, query)]);
      return shown;
    },

    /**
     * Runs one aggregate that a list needs before its own query, through the same gate and with the same limits.
     * @param parameter the query parameter to name in the error when the store cannot evaluate it
     * @throws validationError; requestErrors.unavailable for a query that takes too long
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
     * Answers one list query. Reads with the driver, because a read without casts gains nothing from Mongoose. Counts are cached
     * only if the resource is named like its collection, because writes invalidate them by collection name.
     * @throws validationError, listErrors.invalidNextToken; requestErrors.unavailable for a query that takes too long
     */
    async answer<R extends object, Row>(
      declared: DeclaredList<Row>,
      rows: Model<R & BaseRecord> | ListRows,
      { scope, cursorScope, show, complete = {}, countCache }: ListSource<R, Row>,
      query: ListQuery,
    ): Promise<ListAnswer<Row>> {
      const list = extend(declared);
      const { row, relations, equalTo } = list;
      const { resource, rowFields } = seenBy(list, query);
      const collection = rows.collection as ListCollection;
      const counts = countCache ?? (collection.collectionName === resource.name ? countsOfAll : undefined);
      try {
        const request = requestOf(resource, rowFields, query);
        const within = { ...equalTo(query), ...scope };
        const caller = callerOf(query);
        const isQuick = !('isView' in rows) && isOnePage(resource, within, request);
        const { expansions, selected, given } = request.bound;
        const isExpanded = expansions.length > 0;
        const read = selected ? partOf(row, madeOf(selected, rowFields)) : row;
        // an indexed page finishes before a cancellation could reach it; one by a token may pass over many rows
        const signal = isQuick && !isExpanded && given.nextToken === undefined ? undefined : signalOf(query);
        const shown: Row[] = [];
        const options: ListQueryOptions = {
          collection,
          scope: within,
          ...(cursorScope && { cursorScope: { ...equalTo(query), ...cursorScope } }),
          cursorSecret: cursorSecrets,
          ...(counts && { countCache: counts }),
          maxTimeMs: maxTimeOf(caller),
          isOnePage: isQuick,
          gate,
          caller,
          search: searchWith(search),
          ...(signal && { signal }),
          show(record) {
            const one = fit(resource.name, read, record as R, show);
            if (one !== undefined) shown.push(one);
            return one;
          },
          complete: () => completeRows(shown, complete, selected),
          ...(isExpanded && { relations: origins.sourcesOf(relations, query) }),
        };
        const answer = await answerInTurn(query, () => answerListRequest<Row>(resource, request, options));
        // the output schema checks pages; in the other envelope it cannot, because rows may be computed
        const answered = selected ? partOf(row, [...selected, ...expansions.map(({ name }) => name)]) : row;
        if (selected || !request.page) for (const one of shown) leaveOut(one as object, answered.parse(one) as object);
        return selected ? markSelected(answer) : answer;
      } catch (error) {
        throw toListFailure(error);
      }
    },
  };
}

/** What the caller of a query may ask a list. */
function seenBy(list: DeclaredList<unknown>, query: object): Pick<DeclaredList<unknown>, 'resource' | 'rowFields'> {
  return list.whole && isAskedByAdmin(query) ? list.whole : list;
}

/** @throws validationError for what a query asks wrongly */
function attempt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw toListFailure(error);
  }
}

/** The selected fields, and those that they are made of. */
function madeOf(selected: ReadonlySet<string>, rowFields: RowFields): string[] {
  return [...selected].flatMap((name) => [name, ...(rowFields.get(name) ?? [])]);
}

async function completeRows<Row>(
  rows: Row[],
  complete: NonNullable<ListSource<never, Row>['complete']>,
  selected: ReadonlySet<string> | undefined,
): Promise<void> {
  if (rows.length === 0) return;
  const completions = Object.entries(complete as Record<string, Completion<Row>>).filter(
    ([name]) => selected?.has(name) !== false,
  );
  await Promise.all([...new Set(completions.map(([, run]) => run))].map((run) => run(rows)));
}

/** Removes the fields of a row that its schema does not contain. */
function leaveOut(row: object, parsed: object): void {
  for (const key of Object.keys(row)) if (!Object.hasOwn(parsed, key)) Reflect.deleteProperty(row, key);
  Object.assign(row, parsed);
}

/** Translates the library's errors into API errors. */
export function toListFailure(error: unknown): unknown {
  if (error instanceof NextTokenError) return listErrors.invalidNextToken();
  if (error instanceof ListQueryError) return validationError(error.problems.map(({ message }) => message));
  if (error instanceof ListTimeLimitError) return requestErrors.unavailable({ retryAfter: RETRY_AFTER_TIME_LIMIT, cause: error });
  return error;
}
