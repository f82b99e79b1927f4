import type { StoreFilter } from './filter.js';
import type { SortKey } from './order.js';

const STORE_NUMBERS = new Set<unknown>(['Double', 'Int32', 'Long', 'Decimal128']);

/** What a row has at a sort key; null also for what is missing. */
export type SortValue = string | number | boolean | Date | null;

/** The values of a stored row at the keys of an order. */
export function sortValues(row: object, order: readonly SortKey[]): SortValue[] {
  return order.map(({ field }) => sortValue(valueAt(row, field.path)));
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

function sortValue(value: unknown): SortValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value instanceof Date) return value;
  // oxlint-disable-next-line typescript/no-base-to-string -- the store's numbers have a toString of their own
  if (typeof value === 'bigint' || isStoreNumber(value)) return Number(value.toString());
  throw new TypeError('A sort key holds a value that no field can be declared to have');
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
