import type { Fields, ScalarType } from './fields.js';
import type { StoreFilter } from './filter.js';
import type { SortKey } from './order.js';

const STORE_NUMBERS = new Set<unknown>(['Double', 'Int32', 'Long', 'Decimal128']);

/** What a row has at a sort key; null also for what is missing. */
export type SortValue = string | number | boolean | Date | null;

/** The values of a stored row at the keys of an order; undefined where one is not of its field's type, which only a host can have written. */
export function sortValues(row: object, order: readonly SortKey[]): SortValue[] | undefined {
  const values = order.map(({ field }) => sortValue(valueAt(row, field.path), field.type));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Whether a computed row has values of their types alone: not a key that is none, which only a host can have written (decisions H20). */
export function isFitting(row: object, fields: Fields): boolean {
  return [...fields.values()].every(({ path, type }) => sortValue(valueAt(row, path), type) !== undefined);
}

/** What a stored document has at a path; undefined behind anything that is no object. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function sortValue(value: unknown, type: ScalarType): SortValue | undefined {
  if (value === null || value === undefined) return null;
  if (type === 'date') return value instanceof Date ? value : undefined;
  // oxlint-disable-next-line typescript/no-base-to-string -- the store's numbers have a toString of their own
  if (type === 'number' && (typeof value === 'bigint' || isStoreNumber(value))) return Number(value.toString());
  return typeof value === type ? (value as SortValue) : undefined;
}

/** Numbers of the store that are no JavaScript numbers, which only hosts write. */
function isStoreNumber(value: unknown): value is { toString(): string } {
  return typeof value === 'object' && value !== null && '_bsontype' in value && STORE_NUMBERS.has(value._bsontype);
}

/**
 * The rows behind one with these values: for each key those that are equal before it and greater (or less) at it. Nulls are the least, and
 * behind them numbers that are none. A comparison of the store never finds either: what is less is what is not greater or equal. One range of
 * an index a key, which the store merges in order.
 */
export function rowsAfter(order: readonly SortKey[], values: readonly SortValue[]): StoreFilter {
  const branches: StoreFilter[] = [];
  const equal: StoreFilter = {};
  order.forEach(({ field: { path }, direction }, n) => {
    const value = values[n] ?? null;
    // The last key is unique and never null.
    const behind = valueBehind(value, direction, n === order.length - 1);
    if (behind) branches.push({ ...equal, [path]: behind });
    equal[path] = { $eq: value };
  });
  return branches.length === 1 ? (branches[0] as StoreFilter) : { $or: branches };
}

function valueBehind(value: SortValue, direction: 1 | -1, isUnique: boolean): object | undefined {
  const isAscending = direction === 1;
  if (isUnique) return { [isAscending ? '$gt' : '$lt']: value };
  if (value === null) return isAscending ? { $ne: null } : undefined;
  if (Number.isNaN(value)) return isAscending ? { $gte: -Infinity } : { $eq: null };
  return isAscending ? { $gt: value } : { $not: { $gte: value } };
}
