import { getUntypedClient, isTRPCClientError } from '@trpc/client';
import type {
  AnyTRPCMutationProcedure,
  AnyTRPCProcedure,
  AnyTRPCQueryProcedure,
  AnyTRPCRouter,
  inferRouterInputs,
  inferRouterOutputs,
} from '@trpc/server';
import type { TandemClient } from './client.js';
import { SenderGone, TandemError, mayPass } from './failure.js';
import { CREATES } from './idempotency-link.js';
import { randomId } from './random-id.js';

/** The names of the procedures of one kind: `notifications.list`. */
type PathsOf<Procedures, Kind> = {
  [Name in keyof Procedures & string]: Procedures[Name] extends AnyTRPCProcedure
    ? Procedures[Name] extends Kind
      ? Name
      : never
    : `${Name}.${PathsOf<Procedures[Name], Kind>}`;
}[keyof Procedures & string];

type At<Tree, Path> = Path extends `${infer Name}.${infer Rest}`
  ? Name extends keyof Tree
    ? At<Tree[Name], Rest>
    : never
  : Path extends keyof Tree
    ? Tree[Path]
    : never;

/** The names of a router's queries: `notifications.list`. */
export type QueryPath<Router extends AnyTRPCRouter> = PathsOf<Router['_def']['record'], AnyTRPCQueryProcedure>;
/** The names of its mutations: `notifications.markRead`. */
export type MutationPath<Router extends AnyTRPCRouter> = PathsOf<Router['_def']['record'], AnyTRPCMutationProcedure>;
/** The input of the procedure of this name. */
export type InputOf<Router extends AnyTRPCRouter, Path> = At<inferRouterInputs<Router>, Path>;
/** Its output. */
export type OutputOf<Router extends AnyTRPCRouter, Path> = At<inferRouterOutputs<Router>, Path>;

/** A call in the form of TanStack Query's queries. */
export interface QueryCall<Output> {
  queryKey: QueryKey;
  queryFn(context?: { signal?: AbortSignal }): Promise<Output>;
}
/** And of its mutations. */
export interface MutationCall<Input, Output> {
  mutationKey: QueryKey;
  mutationFn(input: Input): Promise<Output>;
}

/** Begins with `tandem`, the service and the procedure, so that a cache finds all answers of a service or procedure. */
export type QueryKey = readonly unknown[];

/** The key of an answer; without an input, of all answers of a procedure or service; without a name, of all answers. */
export function queryKey(name?: string, input?: unknown): QueryKey {
  return ['tandem', ...(name?.split('.') ?? []), ...(input === undefined ? [] : [input])];
}

async function failAsTandemError<Answer>(call: Promise<unknown>): Promise<Answer> {
  try {
    return (await call) as Answer;
  } catch (error) {
    throw new TandemError(error);
  }
}

/**
 * A query for TanStack Query and its like: `useQuery(queryOptions(client, 'notifications.list', { identityId }))`. It
 * fails with a TandemError.
 */
export function queryOptions<Router extends AnyTRPCRouter, const Path extends QueryPath<Router>>(
  { api }: TandemClient<Router>,
  path: Path,
  input: InputOf<Router, Path>,
): QueryCall<OutputOf<Router, Path>> {
  return {
    queryKey: queryKey(path, input),
    queryFn: ({ signal } = {}) => failAsTandemError(getUntypedClient(api).query(path, input, signal && { signal })),
  };
}

/** What an input was sent with whose outcome is unknown: with the same key it is done once, in the name of the same sender. */
interface Sent {
  text: string;
  context: { idempotencyKey: string; sentBy: object };
  /** When it is forgotten, as `Date.now` counts: its sender has signed out. */
  until?: number;
}
const unanswered = new WeakMap<object, Sent[]>();
/** How long TanStack Query may go on trying in the name of who has signed out, in milliseconds. */
const GONE_MS = 60_000;

/** Calls what creates with the key that the same input was sent with before, as TanStack Query does for its `retry`. */
async function repeatably<Answer>(
  path: string,
  input: unknown,
  call: (context: Record<string, unknown>) => Promise<unknown>,
): Promise<Answer> {
  if (!CREATES.has(path) || typeof input !== 'object' || input === null) return failAsTandemError(call({}));
  const text = JSON.stringify(input);
  const kept = (unanswered.get(input) ?? []).filter((one) => one.text === text && (one.until ?? Infinity) > Date.now());
  // a concurrent call is a create of its own
  const sent = kept.shift() ?? { text, context: { idempotencyKey: randomId(), sentBy: {} } };
  unanswered.set(input, kept);
  try {
    return (await call(sent.context)) as Answer;
  } catch (error) {
    const isGone = isTRPCClientError(error) && error.cause instanceof SenderGone;
    if (isGone) sent.until ??= Date.now() + GONE_MS;
    if (isGone || mayPass(error)) unanswered.get(input)?.push(sent);
    throw new TandemError(error);
  }
}

/** The same for a mutation: `useMutation(mutationOptions(client, 'notifications.markRead'))`. */
export function mutationOptions<Router extends AnyTRPCRouter, const Path extends MutationPath<Router>>(
  { api }: TandemClient<Router>,
  path: Path,
): MutationCall<InputOf<Router, Path>, OutputOf<Router, Path>> {
  return {
    mutationKey: queryKey(path),
    mutationFn: (input) => repeatably(path, input, (context) => getUntypedClient(api).mutation(path, input, { context })),
  };
}
