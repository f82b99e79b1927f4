import { listQuery, type ListQueryBuilder, type ListShape, type QueryParameters } from '@tandem/list-query/builder';
import type { AnyTRPCRouter } from '@trpc/server';
import type { InputOf, OutputOf, QueryPath } from './query-options.js';
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

/** The parameter of a read that adds related records; the type holds these. */
export interface Expansion<Name extends string, Related> {
  readonly $expand: Name | `${Name},${string}`;
  /** Never there. */
  readonly related?: Related;
}

/** The relations of a read: the names that its `$expand` begins with. */
type RelationOf<Router extends AnyTRPCRouter, Path> = InputOf<Router, Path> extends { $expand?: infer Text } ? Exclude<Text, `${string},${string}` | undefined> & string : never; // prettier-ignore
/** The fields of a record, and of those some. */
type FieldOf<Router extends AnyTRPCRouter, Path> = Exclude<keyof OutputOf<Router, Path> & string, RelationOf<Router, Path>>;
type Some<Record, Name> = Pick<Record, Extract<keyof Record, Name>>;

/** Selects fields of a single record, beside `id`: `selectOf('products.get', 'name', 'price')`. */
export function selectOf<Path extends QueryPath<AppRouter>, Name extends FieldOf<AppRouter, Path>>(
  _path: Path,
  ...names: [Name, ...Name[]]
): Selection<Some<OutputOf<AppRouter, Path>, Name | 'id'>> {
  return { $select: String(names) };
}

/** Adds related records to a single record: `expandOf('orders.get', 'buyer', 'items.product')`. */
export function expandOf<Path extends QueryPath<AppRouter>, Name extends RelationOf<AppRouter, Path>>(
  _path: Path,
  ...names: [Name, ...Name[]]
): Expansion<Name, Required<Some<OutputOf<AppRouter, Path>, Name>>> {
  return { $expand: String(names) as Name };
}

/** What a read with these parameters answers. */
type Answered<Answer, Asked> = ('row' extends keyof Asked ? Exclude<Asked['row'], undefined> : Answer) &
  ('related' extends keyof Asked ? Exclude<Asked['related'], undefined> : unknown);

/** The answer to a read with a selection, an expansion or both (`{ ...selection, ...expansion }`), typed by them. */
export function rowOf<Answer extends object, Asked extends object>(answer: Answer, _asked: Asked): Answered<Answer, Asked> {
  return answer as Answered<Answer, Asked>;
}

/** The type of a field in queries, by its values in answers. */
type ScalarOf<Value> = Value extends string ? 'string' : Value extends number ? 'number' : 'boolean';
type QueriedAs<Value> = Value extends (infer One)[] ? `${ScalarOf<One>}[]` : ScalarOf<Value>;
type RowIn<Router extends AnyTRPCRouter, List> = OutputOf<Router, List> extends { data: (infer Row)[] } ? Row : never;

/** The shape of a list whose rows have fields of a host. */
interface HostShape<Shape extends ListShape, Row> {
  fields: Shape['fields'] & { [Name in Exclude<keyof Row & string, keyof Shape['row']>]: QueriedAs<NonNullable<Row[Name]>> };
  row: Row;
  relations: {
    [Name in keyof Shape['relations']]: Name extends keyof Row ? Exclude<Row[Name], undefined> : Shape['relations'][Name];
  };
}

/** `queryOf`, `selectOf` and `expandOf`, typed by a router. */
export interface RouterQueries<Router extends AnyTRPCRouter> {
  queryOf<Name extends keyof ListShapes & QueryPath<Router>>(
    list: Name,
  ): ListQueryBuilder<HostShape<ListShapes[Name], RowIn<Router, Name>>>;
  selectOf<Path extends QueryPath<Router>, Name extends FieldOf<Router, Path>>(
    path: Path,
    ...names: [Name, ...Name[]]
  ): Selection<Some<OutputOf<Router, Path>, Name | 'id'>>;
  expandOf<Path extends QueryPath<Router>, Name extends RelationOf<Router, Path>>(
    path: Path,
    ...names: [Name, ...Name[]]
  ): Expansion<Name, Required<Some<OutputOf<Router, Path>, Name>>>;
}

/** The same functions for a host whose records have fields of its own: `const { queryOf } = queriesOf<ShelvedRouter>()`. */
export function queriesOf<Router extends AnyTRPCRouter>(): RouterQueries<Router> {
  return { queryOf, selectOf, expandOf } as unknown as RouterQueries<Router>;
}
