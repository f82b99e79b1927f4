import {
  queryOptions,
  type InputOf,
  type ListRows,
  type OutputOf,
  type QueryParameters,
  type QueryPath,
  type TandemError,
} from '@tandem/client';
import {
  skipToken,
  useInfiniteQuery,
  useQueryClient,
  type InfiniteData,
  type QueryKey,
  type SkipToken,
  type UseInfiniteQueryOptions,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { useTandem } from './provider.js';
import { keyFor, retryBy, type QueryName, type Router } from './tandem.js';

/** Rows of a page, unless `$top` says otherwise. */
const TOP = 20;

/** The names of lists: `notifications.list`. */
export type ListPath = {
  [Path in QueryPath<Router>]: '$nextToken' extends keyof NonNullable<InputOf<Router, Path>> ? Path : never;
}[QueryPath<Router>];
type Paging = '$nextToken' | '$skip' | 'page' | 'limit';
type ListInput<Path> = Omit<NonNullable<InputOf<Router, Path>>, Paging>;
type RowOfList<Path> = OutputOf<Router, Path> extends { data: (infer Row)[] } ? Row : never;

export interface LoadedRows<Row> {
  rows: Row[];
  /** Of all rows, loaded or not. */
  total: number;
}
type Pages<Row> = InfiniteData<ListRows<Row>, string | undefined>;
type ListSettings<Row> = Omit<
  UseInfiniteQueryOptions<ListRows<Row>, TandemError, LoadedRows<Row>, QueryKey, string | undefined>,
  'queryKey' | 'queryFn' | 'initialPageParam' | 'getNextPageParam' | 'select'
>;

/** The key of a list's pages, which have another form than an answer to the same input. */
export function pagesKey(identityId: string | undefined, name: QueryName, input: object): QueryKey {
  return [...keyFor(identityId, name, input), 'pages'];
}

function rowsOfPages<Row>({ pages }: Pages<Row>): LoadedRows<Row> {
  return { rows: pages.flatMap(({ value }) => value), total: pages[0]?.total ?? 0 };
}

/**
 * A list that grows page by page: `data.rows`, `hasNextPage`, `fetchNextPage()`.
 * @param input the list's parameters, also those that `queryOf` builds, which type the rows
 */
export function useInfiniteTandemList<const Path extends ListPath, Row = RowOfList<Path>>(
  path: Path,
  input: (ListInput<Path> & QueryParameters<Row>) | SkipToken,
  options?: ListSettings<Row>,
): UseInfiniteQueryResult<LoadedRows<Row>, TandemError> {
  const { client, identityId, isReady } = useTandem();
  const queries = useQueryClient();
  const given: object = input === skipToken ? {} : input;
  const load = ($nextToken: string | undefined, signal: AbortSignal) => {
    const asked = { $top: TOP, ...given, ...($nextToken !== undefined && { $nextToken }) };
    const { queryFn } = queryOptions(client, path as QueryPath<Router>, asked as never);
    return queryFn({ signal }) as unknown as Promise<ListRows<Row>>;
  };
  return useInfiniteQuery({
    queryKey: pagesKey(identityId, path as QueryName, given),
    queryFn: input === skipToken || !isReady ? skipToken : ({ pageParam, signal }) => load(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextToken }) => nextToken,
    select: rowsOfPages<Row>,
    retry: retryBy(queries),
    ...options,
  });
}
