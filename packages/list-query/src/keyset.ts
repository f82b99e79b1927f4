import type { Fields, ScalarType } from './fields.js';
import type { StoreFilter } from './filter.js';
import type { SortKey } from './order.js';

const STORE_NUMBERS = new Set<unknown>(['Double', 'Int32', 'Long', 'Decimal128']);

/** A row's value at a sort key; null also for a missing value. */
export type SortValue = string | number | boolean | Date | null;

/**
 * The sort values of a stored row; undefined where a comparison could not find the row again: a value of another type,
 * or a number that JavaScript lacks. Only a host application can have written those.
 */
export function sortValues(row: object, order: readonly SortKey[]): SortValue[] | undefined {
  const values = order.map(({ field }) => sortValue(valueAt(row, field.path), field.type));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/**
 * Whether all key values of a computed row fit their types; others, which only a host application can have written, are
 * not shown (decisions H20).
 */
export function isFitting(row: object, fields: Fields): boolean {
  return [...fields.values()].every(({ path, type }) => fits(valueAt(row, path), type));
}

/** A stored document's value at a path; undefined below anything that is not an object. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function fits(value: unknown, type: ScalarType): boolean {
  if (value === null || value === undefined) return true;
  if (type === 'date') return value instanceof Date;
  return typeof value === type || (type === 'number' && isStoreNumber(value));
}

function sortValue(value: unknown = null, type: ScalarType): SortValue | undefined {
  if (!fits(value, type)) return undefined;
  if (!isStoreNumber(value)) return value as SortValue;
  const text = value.toString();
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : undefined;
}

/** Store numbers without a JavaScript equivalent; only host applications write them. */
function isStoreNumber(value: unknown): value is bigint | { _bsontype: string; toString(): string } {
  if (typeof value === 'bigint') return true;
  return typeof value === 'object' && value !== null && '_bsontype' in value && STORE_NUMBERS.has(value._bsontype);
}

/**
 * The rows after one with these sort values: for each key, those equal at the earlier keys and greater (or less) at
 * this one. Null sorts first, then NaN; the store's comparisons match neither, so "less" is written as "not greater or
 * equal". Each key gives one index range, and the store merges the ranges in order.
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
