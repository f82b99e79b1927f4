import type { QueryParameters } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Button } from '../ui/button.js';
import { addressOf, readableAddressOf } from './queries.js';

/** The chart's query, as a REST URL. */
export function QueryText({ parameters, queries }: { parameters: QueryParameters | undefined; queries: number }) {
  const copying = useMutation({
    mutationFn: () => navigator.clipboard.writeText(new URL(addressOf(parameters ?? {}), location.origin).href),
  });
  if (!parameters) return null;
  return (
    <details className="query">
      <summary>The query{queries > 1 && `, one of ${queries}: each category has its own`}</summary>
      <pre>{readableAddressOf(parameters)}</pre>
      <p className="query-ways">
        <Button onClick={() => copying.mutate()}>{copying.isSuccess ? 'Copied' : 'Copy its address'}</Button>
        <a href={addressOf(parameters)}>Open its answer</a>
      </p>
    </details>
  );
}
