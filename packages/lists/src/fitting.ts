import type { Log } from '@tandem/core';
import { versionOf } from '@tandem/storage';

export type Fitting = ReturnType<typeof createFitting>;

/** A schema, or the part of one. */
interface Schema<Row> {
  safeParse(value: unknown): { success: boolean; data?: Row };
}

/** Bounds the memory for logged ids. A store with more misfits than this needs repair, not more log lines. */
const LOGGED_MAX = 10_000;

/**
 * Shows stored records in the shape of their schema. A record that does not fit, which only a host can have written, is left out,
 * so that it does not fail the whole answer (decisions H20).
 */
export function createFitting(log: Log) {
  const logged = new Set<string>();

  function note(collection: string, id: string): void {
    const key = `${collection} ${id}`;
    if (logged.has(key) || logged.size >= LOGGED_MAX) return;
    logged.add(key);
    log.error({ collection, id }, 'a stored record does not fit its schema, and is not shown');
  }

  /**
   * Returns what `show` makes of the record. If that does not fit the schema, returns undefined and logs the record's id, once
   * per process.
   */
  return function fit<R extends object, Row>(
    collection: string,
    schema: Schema<Row>,
    record: R,
    show: (record: R) => Row,
  ): Row | undefined {
    try {
      const { success, data } = schema.safeParse(show(record));
      if (success) return versioned(data as Row, record);
    } catch (error) {
      // `show` throws these for data of the wrong kind, such as an unknown currency or text in place of a date
      if (!(error instanceof RangeError) && !(error instanceof TypeError)) throw error;
    }
    note(collection, String((record as { _id?: unknown })._id));
    return undefined;
  };
}

const versions = new WeakMap<object, { id: string; version: number }>();

/** Keeps the version of a stored record with what is shown of it. */
export function versioned<Row>(row: Row, record: object): Row {
  const version = versionOf(record);
  const { _id } = record as { _id?: unknown };
  if (version !== undefined && typeof _id === 'string') versions.set(row as object, { id: _id, version });
  return row;
}

/** The `ETag` of a shown record, the same for every caller and `$expand`; undefined where its version was not read. */
export function etagOf(row: object): string | undefined {
  const known = versions.get(row);
  return known && etag(known.id, known.version);
}
export const etag = (id: string, version: number): string => `"${id}.${version}"`;
