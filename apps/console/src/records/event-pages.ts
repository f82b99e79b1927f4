import type { RouterOutputs, TandemClient } from '@tandem/client';

type EventPage = RouterOutputs['events']['list'];
/** A change of a record, and who has made it. */
export type ToldEvent = EventPage['data'][number];

/** Events in one answer at most. */
export const PAGE = 200;

interface Asked {
  /** `order.*,product.created`; empty for all. */
  types: string;
  /** The id behind which the first page begins; without one at the oldest event. */
  since?: string | undefined;
}

/** Events, from the oldest to the latest, a page at a time. */
export async function* eventPages(
  { api }: TandemClient,
  { types, since }: Asked,
  signal: AbortSignal,
): AsyncGenerator<EventPage> {
  for (let last = since; ;) {
    const input = { limit: PAGE, ...(types !== '' && { types }), ...(last !== undefined && { since: last }) };
    const page = await api.events.list.query(input, { signal });
    yield page;
    // one with fewer events need not be the last: what does not fit its schema is left out
    if (page.data.length === 0 || page.nextSince === null || page.nextSince === last) return;
    last = page.nextSince;
  }
}
