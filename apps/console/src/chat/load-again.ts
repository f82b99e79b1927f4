import type { QueryClient, QueryFilters } from '@tanstack/react-query';

/** Loads again what is shown. TanStack Query alone would take the answer of a first load under way, which may be older. */
export async function loadAgain(queries: QueryClient, filters: QueryFilters): Promise<void> {
  await queries.cancelQueries(filters);
  await queries.invalidateQueries(filters);
}
