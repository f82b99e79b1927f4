import type { QueryClient, QueryFilters } from '@tanstack/react-query';

/**
 * Loads again what is shown. A first load under way goes on, so that it ends where events keep coming; its answer may be too old,
 * so that one more follows it, however often it was asked for.
 */
export async function loadAgain(queries: QueryClient, filters: QueryFilters): Promise<void> {
  const isFirst = queries.isFetching({ ...filters, predicate: ({ state }) => state.data === undefined }) > 0;
  // waits for a first load too
  await queries.invalidateQueries(filters);
  if (isFirst) await queries.invalidateQueries(filters, { cancelRefetch: false });
}
