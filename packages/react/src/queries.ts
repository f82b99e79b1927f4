import type { InputOf, MutationPath, OutputOf, QueryPath, TandemError } from '@tandem/client';
import {
  useMutation,
  useQuery,
  useQueryClient,
  type SkipToken,
  type UseMutationOptions,
  type UseMutationResult,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useTandem } from './provider.js';
import type { QueryName, Router } from './tandem.js';

/** TanStack Query's options, except those that the call itself gives. */
type QuerySettings<Output, Data> = Omit<UseQueryOptions<Output, TandemError, Data>, 'queryKey' | 'queryFn'>;
type MutationSettings<Output, Input, Context> = Omit<
  UseMutationOptions<Output, TandemError, Input, Context>,
  'mutationKey' | 'mutationFn'
>;

/**
 * Calls a query: `useTandemQuery('notifications.unreadCount', { identityId })`. Calls of one render share a request.
 * @param input TanStack Query's `skipToken` while there is nothing to ask
 */
export function useTandemQuery<const Path extends QueryPath<Router>, Data = OutputOf<Router, Path>>(
  path: Path,
  input: InputOf<Router, Path> | SkipToken,
  options?: QuerySettings<OutputOf<Router, Path>, Data>,
): UseQueryResult<Data, TandemError> {
  return useQuery({ ...useTandem().queryOptions(path, input), ...options });
}

/**
 * Calls a mutation: `useTandemMutation('notifications.markRead', { invalidates: ['notifications'] })`.
 * @param options TanStack Query's, and `invalidates`: the queries and services that it changes, which are loaded again
 * before the mutation counts as done
 */
export function useTandemMutation<const Path extends MutationPath<Router>, Context = unknown>(
  path: Path,
  {
    invalidates = [],
    onSuccess,
    ...options
  }: MutationSettings<OutputOf<Router, Path>, InputOf<Router, Path>, Context> & { invalidates?: readonly QueryName[] } = {},
): UseMutationResult<OutputOf<Router, Path>, TandemError, InputOf<Router, Path>, Context> {
  const { mutationOptions, queryKey } = useTandem();
  const queries = useQueryClient();
  return useMutation({
    ...mutationOptions(path),
    ...options,
    async onSuccess(...outcome) {
      await Promise.all(invalidates.map((name) => queries.invalidateQueries({ queryKey: queryKey(name) })));
      return onSuccess?.(...outcome);
    },
  });
}
