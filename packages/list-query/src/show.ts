/** A document as the store returns it. */
export type StoredDocument = Record<string, unknown>;

/**
 * Turns a stored record into its shown form; undefined for a record that nobody may see.
 * @param selected the fields of `$select`, if it was given; others may be missing from the record
 */
export type Show = (record: StoredDocument, selected?: ReadonlySet<string>) => unknown;

/** Keys that are renamed or hidden. */
const OWN_KEYS: ReadonlySet<string> = new Set(['_id', 'id', '__v', 'deletedAt']);

/** A record in its wire shape: `id` for `_id`, dates as ISO-8601 strings at any depth; of all its fields, or those selected. */
export function showRecord(record: StoredDocument, selected?: ReadonlySet<string>): Record<string, unknown> {
  const shown: Record<string, unknown> = { id: wire(record['_id']) };
  copy(record, shown, OWN_KEYS);
  return selected ? Object.fromEntries(Object.entries(shown).filter(([name]) => selected.has(name))) : shown;
}

/** A computed row in its wire shape. */
export function showRow(row: StoredDocument): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  copy(row, shown, undefined);
  return shown;
}

function copy(from: object, to: Record<string, unknown>, except: ReadonlySet<string> | undefined): void {
  const values = from as Record<string, unknown>;
  for (const key of Object.keys(values)) {
    // A stored `__proto__` would become the prototype of the result.
    if (key === '__proto__' || except?.has(key) === true) continue;
    to[key] = wire(values[key]);
  }
}

function wire(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(wire);
  if ('_bsontype' in value) return wireStoreType(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const shown: Record<string, unknown> = {};
  copy(value, shown, undefined);
  return shown;
}

/** Store types that only host applications write: binary data as base64, the rest as text. */
function wireStoreType(value: object & { toJSON?: () => unknown }): string {
  const json = value.toJSON?.();
  // oxlint-disable-next-line typescript/no-base-to-string -- these have a toString of their own
  return typeof json === 'string' ? json : String(value);
}
