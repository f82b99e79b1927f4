import type { Log } from '@tandem/core';
import type { z } from 'zod';

export type Fitting = ReturnType<typeof createFitting>;

/** So many ids are known as logged; a store with more rows like that has another problem than what its log says twice. */
const LOGGED_MAX = 10_000;

/**
 * Shows stored records as their schema has them. One that does not fit it, which only a host can have written, is shown to nobody instead of
 * failing what else is asked for with it (decisions H20).
 */
export function createFitting(log: Log) {
  const logged = new Set<string>();

  function note(collection: string, id: string): void {
    const key = `${collection} ${id}`;
    if (logged.has(key) || logged.size >= LOGGED_MAX) return;
    logged.add(key);
    log.error({ collection, id }, 'a stored record does not fit its schema, and is not shown');
  }

  /** What `show` makes of the record; undefined, and logged once a process by its id, where that does not fit the schema. */
  return function fit<R extends object, Row>(
    collection: string,
    schema: z.ZodType<Row>,
    record: R,
    show: (record: R) => Row,
  ): Row | undefined {
    try {
      const { success, data } = schema.safeParse(show(record));
      if (success) return data;
    } catch (error) {
      // what a record cannot be shown for: an unknown currency, a text where a date should be
      if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
    }
    note(collection, String((record as { _id?: unknown })._id));
    return undefined;
  };
}
