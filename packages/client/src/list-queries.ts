import { listQuery, type ListQueryBuilder, type QueryParameters } from '@tandem/list-query/builder';
import type { OutputOf, QueryPath } from './query-options.js';
import type { AppRouter, ListShapes } from './router-types.js';

/** A list's answer to `$skip`, `$top`, `$nextToken` or `$apply`. `total` is exact and over all pages. */
export interface ListRows<Row> {
  total: number;
  count: number;
  value: Row[];
  /** For `after`; absent on the last page. */
  nextToken?: string;
}

/**
 * Starts a query of a list, typed by its fields: `queryOf('notifications.list').where('isRead', 'eq', false).top(20)`.
 */
export function queryOf<Name extends keyof ListShapes>(_list: Name): ListQueryBuilder<ListShapes[Name]> {
  return listQuery<ListShapes[Name]>();
}

/**
 * The rows of an answer, typed by the query's parameters.
 * @throws TypeError for an answer to `page` and `limit`, which has another form
 */
export function rowsOf<Row>(answer: object, _parameters: QueryParameters<Row>): ListRows<Row> {
  if (!('value' in answer)) throw new TypeError('the list was asked for a page: give $top, $skip, $nextToken or $apply');
  return answer as ListRows<Row>;
}

/** The parameter of a read that gives some fields of a record; the type holds these fields. */
export interface Selection<Row> {
  readonly $select: string;
  /** Never there. */
  readonly row?: Row;
}

/** Selects fields of a single record, beside `id`: `selectOf('products.get', 'name', 'price')`. */
export function selectOf<Path extends QueryPath<AppRouter>, Name extends keyof OutputOf<AppRouter, Path> & string>(
  _path: Path,
  ...names: [Name, ...Name[]]
): Selection<Pick<OutputOf<AppRouter, Path>, Extract<keyof OutputOf<AppRouter, Path>, Name | 'id'>>> {
  return { $select: names.join(',') };
}

/** The answer to a read with a selection, typed by it. */
export function rowOf<Row>(answer: object, _selection: Selection<Row>): Row {
  return answer as Row;
}
