import {
  describeFailure,
  mutationOptions,
  queryKey,
  queryOptions,
  type AppRouter,
  type InputOf,
  type MutationCall,
  type MutationPath,
  type OutputOf,
  type QueryCall,
  type QueryKey,
  type QueryPath,
  type TandemClient,
} from '@tandem/client';
import { skipToken, type QueryClient, type SkipToken } from '@tanstack/react-query';
import type { AnyTRPCRouter } from '@trpc/server';
import type { SessionState } from './session-store.js';

/**
 * Takes a host's own router, so that the hooks know its procedures: `declare module '@tandem/react' { interface Register
 * { router: HostRouter } }`.
 */
export interface Register {}

type Registered = Register extends { router: infer Own extends AnyTRPCRouter } ? Own : AppRouter;
/** The router whose procedures the hooks call. */
export interface Router extends Registered {}

type ServiceOf<Path> = Path extends `${infer Service}.${string}` ? Service : never;
/** A query, or a service with all its queries: `notifications.list`, `notifications`. */
export type QueryName = QueryPath<Router> | ServiceOf<QueryPath<Router>>;

type Retry = boolean | number | ((failures: number, error: Error) => boolean);
/** Retries of a query that the server could not answer. */
const RETRIES = 2;
function retryUnlessRefused(failures: number, error: Error): boolean {
  const { status = 500 } = describeFailure(error);
  return failures < RETRIES && status >= 500;
}

/** What decides over retries: the QueryClient's defaults, else that retrying what was refused is pointless. */
export function retryBy(queries: QueryClient): Retry {
  return queries.getDefaultOptions().queries?.retry ?? retryUnlessRefused;
}

/** The key of an answer to an identity: what one person has seen is never shown to the next. */
export function keyFor(identityId: string | undefined, name?: QueryName, input?: unknown): QueryKey {
  const [root, ...rest] = queryKey(name, input);
  return [root, identityId ?? null, ...rest];
}

/**
 * Loads again what is shown. A first load under way goes on, so that it ends where events keep coming; its answer may be too old,
 * so that one more follows it, however often it was asked for.
 */
export async function loadAgain(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  const isFirst = queries.isFetching({ queryKey, predicate: ({ state }) => state.data === undefined }) > 0;
  // waits for a first load too
  await queries.invalidateQueries({ queryKey });
  if (isFirst) await queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
}

/** The client, and its calls in the form of TanStack Query. */
export interface Tandem {
  readonly client: TandemClient<Router>;
  readonly api: TandemClient<Router>['api'];
  /** The signed-in identity; undefined when signed out. */
  readonly identityId: string | undefined;
  /** Whether it is known who is signed in. */
  readonly isReady: boolean;
  /** The key of an answer; without an input, of all answers of a query or service; without a name, of all answers. */
  queryKey(name?: QueryName, input?: unknown): QueryKey;
  /**
   * For `useQueries`, `prefetchQuery` and the like. Refused calls are not retried, unless the QueryClient's defaults say
   * when to retry.
   */
  queryOptions<const Path extends QueryPath<Router>>(
    path: Path,
    input: InputOf<Router, Path> | SkipToken,
  ): QueryCall<OutputOf<Router, Path>> & { retry: Retry };
  /** For `useMutation`. */
  mutationOptions<const Path extends MutationPath<Router>>(
    path: Path,
  ): MutationCall<InputOf<Router, Path>, OutputOf<Router, Path>>;
}

/** @returns the calls for one state of the session */
export function describeTandem(client: TandemClient<Router>, { status, identityId }: SessionState, queries: QueryClient): Tandem {
  const isReady = status !== 'loading';
  return {
    client,
    api: client.api,
    identityId,
    isReady,
    queryKey: (name, input) => keyFor(identityId, name, input),

    queryOptions(path, input) {
      const options = queryOptions(client, path, input as InputOf<Router, typeof path>);
      // before, it is not known whose answer it will be
      const isSkipped = input === skipToken || !isReady;
      return {
        queryKey: keyFor(identityId, path, input === skipToken ? undefined : input),
        // the types of suspense queries refuse a skipToken, which only a caller that passes one can cause
        queryFn: isSkipped ? (skipToken as unknown as typeof options.queryFn) : options.queryFn,
        retry: retryBy(queries),
      };
    },

    mutationOptions: (path) => mutationOptions(client, path),
  };
}
