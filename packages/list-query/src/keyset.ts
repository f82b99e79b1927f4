import type { Fields, ScalarType } from './fields.js';
import type { StoreFilter } from './filter.js';
import type { SortKey } from './order.js';

const STORE_NUMBERS = new Set<unknown>(['Double', 'Int32', 'Long', 'Decimal128']);

/** What a row has at a sort key; null also for what is missing. */
export type SortValue = string | number | boolean | Date | null;

/**
 * The values of a stored row at the keys of an order; undefined where a comparison would not find one again: one that is not of its field's type,
 * or a number that JavaScript does not have. Only a host can have written these.
 */
export function sortValues(row: object, order: readonly SortKey[]): SortValue[] | undefined {
  const values = order.map(({ field }) => sortValue(valueAt(row, field.path), field.type));
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** Whether a computed row has values of their types alone: not a key that is none, which only a host can have written (decisions H20). */
export function isFitting(row: object, fields: Fields): boolean {
  return [...fields.values()].every(({ path, type }) => fits(valueAt(row, path), type));
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

/** Numbers of the store that are no JavaScript numbers, which only hosts write. */
function isStoreNumber(value: unknown): value is bigint | { _bsontype: string; toString(): string } {
  if (typeof value === 'bigint') return true;
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
