import { listQuery, type ListQueryBuilder, type QueryParameters } from '@tandem/list-query/builder';
import type { ListShapes } from './router-types.js';

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
