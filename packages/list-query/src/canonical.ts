import { createHash } from 'node:crypto';

/** Maximum nesting depth, which is that of the store: prevents a stack overflow. */
const MAX_DEPTH = 200;

/**
 * The same text for all equal filters, used for binding cursors and, as `keyOf`, for cached counts. Distinguishes types
 * (`5`, `"5"`, a date), ignores key order.
 * @throws TypeError for values that are not data: functions, symbols, cyclic structures
 */
export function canonical(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new TypeError('A filter is nested too deeply');
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'bigint') return `#${value}`;
  if (typeof value !== 'object') throw new TypeError(`A filter cannot hold a ${typeof value}`);
  if (value instanceof Date) return `@${value.getTime()}`;
  if (value instanceof RegExp) return `/${String(value)}`;
  if (value instanceof Uint8Array) return `<${Buffer.from(value).toString('base64')}>`;
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`;
  // oxlint-disable-next-line typescript/no-base-to-string -- the store's own types have a toString of their own
  if ('_bsontype' in value) return `${String(value._bsontype)}(${JSON.stringify(String(value))})`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join()}}`;
}

/** A short text that is the same for equal filters, which may be long and many: what their counts are kept by. */
export const keyOf = (filter: object): string => createHash('sha256').update(canonical(filter)).digest('base64');
