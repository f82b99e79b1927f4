import { queryKey, versionOf, type QueryKey, type QueryParameters } from '@tandem/client';
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { Operation } from '../reference/reference.js';
import { useSession } from '../session/session.js';
import { tabs } from '../session/tabs.js';
import type { RecordList } from './definitions.js';
import { useUnderWay } from './under-way.js';

export type Row = Readonly<Record<string, unknown>>;
export type Input = Record<string, unknown>;

/** What a call may say beside its input, as the typed client takes it. */
export interface CallContext {
  idempotencyKey?: string;
  ifMatch?: string;
  versioned?: boolean;
}

interface Procedure {
  query(input: unknown, options?: { context?: CallContext }): Promise<unknown>;
  mutate(input: unknown, options?: { context?: CallContext }): Promise<unknown>;
}

/** Rows loaded at once: the most that a list gives. */
const PAGE = 100;

/** Services that change what is shown of people everywhere, and the keys of what was read of them. */
const OF_PEOPLE = ['profiles', 'identities', 'auth'];
const SHOWN_OF_PEOPLE = ['me', 'people', 'card', 'emails'];

/** Calls any operation of the document by its name; other tabs are told of what it changes. */
export function useCall(): (operation: Operation, input: Input, context?: CallContext) => Promise<unknown> {
  const { client, people, identityId = '' } = useSession();
  const queries = useQueryClient();
  return async ({ id, method, service }, input, context) => {
    const names = id.split('.');
    const found = names.reduce<unknown>((api, name) => (api as Record<string, unknown>)[name], client.api);
    const procedure = found as Procedure;
    const options = context === undefined ? undefined : { context };
    if (method === 'GET') return procedure.query(input, options);
    const answer = await procedure.mutate(input, options);
    // accounts are locked, deactivated and erased by another service than the one that lists them
    for (const one of service === 'auth' ? [service, 'identities'] : [service]) tabs.tell({ identityId, service: one });
    if (OF_PEOPLE.includes(service)) {
      people.forget();
      void queries.invalidateQueries({ predicate: ({ queryKey: [first] }) => SHOWN_OF_PEOPLE.includes(String(first)) });
    }
    return answer;
  };
}

/** The version of a record that was read with one; undefined where the server keeps none, as of webhooks. */
export function knownVersion(record: Row): string | undefined {
  try {
    return versionOf(record);
  } catch {
    return undefined;
  }
}

/** Loads everything shown anew, after a change: what depends on what only the server knows. */
export function useReload(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    // what a view that was left has asked for before would come as if it were new
    await queries.cancelQueries({ queryKey: queryKey(), type: 'inactive' });
    await queries.invalidateQueries({ queryKey: queryKey() });
  };
}

/** A query operation as a query. */
export function useAnswer<Answer>(operation: Operation | undefined, input: Input, isOn = true) {
  const call = useCall();
  return useQuery({
    queryKey: queryKey(operation?.id ?? '', input),
    enabled: operation !== undefined && isOn,
    queryFn: async () => (await call(operation as Operation, input)) as Answer,
  });
}

interface Page {
  rows: Row[];
  total: number | undefined;
  nextToken: string | undefined;
}

/** The records in the answer of a change: of one, or of many. */
export const rowsIn = (answer: unknown): Row[] => (Array.isArray(answer) ? (answer as Row[]) : [(answer ?? {}) as Row]);

/** The rows of any list: pages of list queries, all of an array, or what `since` gives. */
function pageOf(answer: unknown): Page {
  const { value, data, total, nextToken } = (Array.isArray(answer) ? { data: answer as unknown[] } : answer) as {
    value?: Row[];
    data?: Row[];
    total?: number;
    nextToken?: string;
  };
  const rows = value ?? data ?? [];
  return { rows, total: total ?? (value ? undefined : rows.length), nextToken };
}

/** A page as changes under way will leave it. */
function changed(page: Page, underWay: (row: Row) => Row | undefined): Page {
  const rows = page.rows.map(underWay).filter((row) => row !== undefined);
  const gone = page.rows.length - rows.length;
  return { ...page, rows, total: page.total === undefined ? undefined : page.total - gone };
}

/** What a list is asked for. */
export const rowsInputOf = (isQueried: boolean, given: Input, parameters: QueryParameters): Input =>
  isQueried ? { ...given, ...parameters, $top: PAGE } : given;

const ROWS = 'rows';
/** The key of a list's rows. */
export const rowsKeyOf = ({ id }: Operation, input: Input) => [...queryKey(id), ROWS, input];
export const isOfRows = (key: QueryKey): boolean => key.includes(ROWS);

/**
 * The rows of a list, page after page, as changes under way will leave them.
 * @param parameters of list queries: `$filter`, `$search`, `$orderby`, `$expand`, `$apply`
 */
export function useRows({ operation, isQueried }: RecordList, given: Input, parameters: QueryParameters, isOn = true) {
  const call = useCall();
  const input = rowsInputOf(isQueried, given, parameters);
  const underWay = useUnderWay();
  const select = useCallback(
    ({ pages, pageParams }: InfiniteData<Page, string | undefined>) => ({
      pages: pages.map((page) => changed(page, underWay)),
      pageParams,
    }),
    [underWay],
  );
  return useInfiniteQuery({
    queryKey: rowsKeyOf(operation, input),
    enabled: isOn,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) =>
      pageOf(await call(operation, pageParam === undefined ? input : { ...input, $nextToken: pageParam })),
    getNextPageParam: ({ nextToken }) => nextToken,
    select,
  });
}
