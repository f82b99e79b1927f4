import { describeFailure } from '@tandem/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Failure } from './notices.js';

/** A query without an answer is tried again and again; a view says so once this many attempts have failed. */
const SILENT_ATTEMPTS = 2;

/** Whether the same query may be answered later. */
export function isPassing(error: unknown): boolean {
  return (describeFailure(error).status ?? 500) >= 500;
}

export type QueryState = Pick<UseQueryResult, 'error' | 'failureCount' | 'failureReason' | 'refetch'>;

/** Why queries do not load. An outage ends by itself; what the server has refused can be tried again. */
export function QueryFailure({ of: queries }: { of: readonly QueryState[] }) {
  const refused = queries.filter(({ error }) => error !== null);
  const waiting = queries.find(({ failureCount }) => failureCount > SILENT_ATTEMPTS);
  const retry = () => refused.forEach(({ refetch }) => void refetch());
  return <Failure of={refused[0]?.error ?? waiting?.failureReason} retry={refused.length > 0 ? retry : undefined} />;
}
