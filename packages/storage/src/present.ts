import { TRACE } from './traces.js';

/** JSON shape of a stored value: dates are ISO-8601 strings with milliseconds, in UTC (decision R1). */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wire<T[Key]> }
      : T;

/** Where a record keeps the fields that a host declares. They are shown as its own. */
export const HOST_FIELDS = 'hostFields';

/** The wire shape of a record: `id` for `_id`, without the store's own fields. */
export type Presented<R> = { id: string } & {
  [Key in keyof R as Key extends '_id' | '__v' | 'deletedAt' | typeof HOST_FIELDS | typeof TRACE ? never : Key]: Wire<R[Key]>;
};

/** The version of a stored record; 0 for one that was never written with a trace, undefined where it was not read. */
export function versionOf(record: object): number | undefined {
  const trace = Reflect.get(record, TRACE) as { version?: unknown } | undefined;
  return typeof trace?.version === 'number' ? trace.version : undefined;
}

/**
 * The wire shape of a stored (lean) record: `id` first, no `_id`, `__v`, `deletedAt`; dates as ISO strings, at any
 * depth. Undeclared fields of a host are kept, declared ones come from `hostFields`. Written with loops and without
 * closures, because it runs for every row of every list.
 */
export function present<R extends { _id: unknown }>(record: R): Presented<R> {
  const shown: Record<string, unknown> = { id: wire(record._id) };
  const { [HOST_FIELDS]: added } = record as { [HOST_FIELDS]?: unknown };
  // first: the record's own fields replace those of the same name
  if (typeof added === 'object' && added !== null) copy(added, shown, true);
  copy(record, shown, true);
  return shown as Presented<R>;
}

function copy(from: object, to: Record<string, unknown>, isRecord: boolean): void {
  const values = from as Record<string, unknown>;
  for (const key of Object.keys(values)) {
    // A stored `__proto__` would become the prototype of the result.
    if (key === '__proto__') continue;
    if (
      isRecord &&
      (key === '_id' || key === '__v' || key === 'deletedAt' || key === 'id' || key === HOST_FIELDS || key === TRACE)
    )
      continue;
    const value = values[key];
    to[key] = typeof value === 'object' && value !== null ? wire(value) : value;
  }
}

function wire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(wire);
  if ('_bsontype' in value) return wireBson(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const shown: Record<string, unknown> = {};
  copy(value, shown, false);
  return shown;
}

/**
 * BSON's own types, which only host applications write: binary data as base64, the rest (ObjectId, Decimal128, Long…)
 * as text.
 */
function wireBson(value: object & { toJSON?: () => unknown }): string {
  const json = value.toJSON?.();
  // oxlint-disable-next-line typescript/no-base-to-string -- these have a toString of their own
  return typeof json === 'string' ? json : String(value);
}
