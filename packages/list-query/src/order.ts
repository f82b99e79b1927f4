import { bindField } from './bind.js';
import { problemAt, shorten } from './errors.js';
import type { Field, Fields } from './fields.js';
import type { OrderKey } from './tree.js';

/** One key of an order over documents. */
export interface SortKey {
  field: Pick<Field, 'name' | 'path' | 'type'>;
  direction: 1 | -1;
}

/** What every order of records ends in (decisions L2). */
export const BY_ID: readonly SortKey[] = [{ field: { name: 'id', path: '_id', type: 'string' }, direction: 1 }];

/**
 * Checks an order against the fields that can be seen.
 * @throws ListQueryError for an unknown property, one that cannot be sorted by, one that is named twice
 */
export function bindOrder(keys: readonly OrderKey[], fields: Fields, parameter: string): SortKey[] {
  const seen = new Set<string>();
  return keys.map((key) => {
    const field = bindField(key, fields, 'sort', parameter);
    if (seen.has(key.path)) throw problemAt(parameter, key.at ?? 0, `names '${shorten(key.path)}' twice`);
    seen.add(key.path);
    return { field, direction: key.direction === 'asc' ? 1 : -1 };
  });
}

/** The order made total by keys that together are unique; what stands behind a key that is unique alone decides nothing. */
export function completeOrder(keys: readonly SortKey[], unique: readonly SortKey[]): SortKey[] {
  const complete = [...keys, ...unique.filter(({ field }) => !keys.some((key) => key.field.path === field.path))];
  const decided = unique.length === 1 ? complete.findIndex(({ field }) => field.path === unique[0]?.field.path) : -1;
  return decided < 0 ? complete : complete.slice(0, decided + 1);
}

/** The store's form of an order. */
export function compileOrder(keys: readonly SortKey[]): Record<string, 1 | -1> {
  return Object.fromEntries(keys.map(({ field, direction }) => [field.path, direction]));
}
