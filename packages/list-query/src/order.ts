import { bindField } from './bind.js';
import { problemAt, shorten } from './errors.js';
import type { Field, Fields } from './fields.js';
import type { OrderKey } from './tree.js';

/** One key of an order over documents. */
export interface SortKey {
  field: Pick<Field, 'name' | 'path' | 'type'>;
  direction: 1 | -1;
}

/** Ends every order of records, so that it is total (decisions L2). */
export const BY_ID: readonly SortKey[] = [{ field: { name: 'id', path: '_id', type: 'string' }, direction: 1 }];

/**
 * Checks an order against the visible fields.
 * @throws ListQueryError for an unknown property, one that cannot be sorted by, or one named twice
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

/**
 * Completes an order with keys that together are unique; keys after a unique key are dropped, because they decide
 * nothing.
 */
export function completeOrder(keys: readonly SortKey[], unique: readonly SortKey[]): SortKey[] {
  const complete = [...keys, ...unique.filter(({ field }) => !keys.some((key) => key.field.path === field.path))];
  const decided = unique.length === 1 ? complete.findIndex(({ field }) => field.path === unique[0]?.field.path) : -1;
  return decided < 0 ? complete : complete.slice(0, decided + 1);
}

/** An order in the store's form. */
export function compileOrder(keys: readonly SortKey[]): Record<string, 1 | -1> {
  return Object.fromEntries(keys.map(({ field, direction }) => [field.path, direction]));
}
