import type { RouterOutputs, TandemClient } from '@tandem/client';

/** A change of a record, and who has made it. */
export type ToldEvent = RouterOutputs['events']['list']['data'][number];

/** Events in one answer at most. */
const PAGE = 200;

/** The events of some types, from the oldest to the latest, a page at a time. */
export async function* eventPages({ api }: TandemClient, types: string, signal: AbortSignal): AsyncGenerator<ToldEvent[]> {
  for (let since: string | undefined; ;) {
    const input = { limit: PAGE, types, ...(since !== undefined && { since }) };
    const { data, nextSince } = await api.events.list.query(input, { signal });
    yield data;
    // one with fewer events need not be the last: what does not fit its schema is left out
    if (data.length === 0 || nextSince === null || nextSince === since) return;
    since = nextSince;
  }
}
