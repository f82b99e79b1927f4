import { problemAt, shorten } from './errors.js';
import type { Expansion } from './expand.js';
import { LIMITS } from './limits.js';
import { expectEnd, expectName, openReader, readList } from './reader.js';
import type { ListResource } from './resource.js';
import type { PathReference } from './tree.js';

/** The fields of a row, each with the stored paths that it is made of. */
export type RowFields = ReadonlyMap<string, readonly string[]>;

/**
 * Parses `$select`: names of fields.
 * @throws ListQueryError
 */
export function parseSelect(text: string, parameter = '$select'): PathReference[] {
  const reader = openReader(text, parameter);
  const items = readList(reader, LIMITS.selections, 'properties', () => {
    const { text: path, at } = expectName(reader, 'a property');
    return { path, at };
  });
  expectEnd(reader);
  return items;
}

/** The parts of rows that related records are put into: `items` for `items.product`. */
const partsIn = (expansions: readonly Expansion[]) =>
  expansions.filter(({ name }) => name.includes('.')).map(({ name }) => name.split('.', 1)[0] as string);

/**
 * The selected fields, which always include `id` and the parts that related records are put into.
 * @throws ListQueryError for a name that is no field of a row
 */
export function bindSelect(
  items: readonly PathReference[],
  rows: RowFields,
  expansions: readonly Expansion[] = [],
  parameter = '$select',
): ReadonlySet<string> {
  for (const { path, at = 0 } of items) {
    if (path !== 'id' && !rows.has(path)) throw problemAt(parameter, at, `has the unknown property '${shorten(path)}'`);
  }
  return new Set(['id', ...items.map(({ path }) => path), ...partsIn(expansions)]);
}

/** The fields of rows that `showRecord` shows: those that the resource declares, whole. */
export function rowFieldsOf({ fields, open }: Pick<ListResource, 'fields' | 'open'>): RowFields {
  const roots = [...fields.values(), ...open.values()].map(({ path }) => path.split('.', 1)[0] as string);
  return new Map(roots.map((root) => [root === '_id' ? 'id' : root, [root]]));
}

const isWithin = (path: string, other: string) => path.startsWith(`${other}.`);

/** The stored paths that lead to related records; those of parts of rows with the whole part, which alone can be shown. */
export function leadingTo(expansions: readonly Expansion[]): string[] {
  return [...expansions.map(({ relation }) => relation.from), ...partsIn(expansions)];
}

/** A projection of what the selected fields are made of, and of other paths that the query reads. */
export function selectedOnly(
  { hidden, projection }: Pick<ListResource, 'hidden' | 'projection'>,
  selected: Iterable<string>,
  rows: RowFields,
  others: readonly string[],
): Readonly<Record<string, 0 | 1>> {
  const wanted = [...new Set([...[...selected].flatMap((name) => rows.get(name) ?? []), ...others])];
  const shown = wanted.filter((path) => !hidden.some((secret) => path === secret || isWithin(path, secret)));
  // the store cannot exclude a part of what it includes
  if (hidden.some((secret) => shown.some((path) => isWithin(secret, path)))) return projection;
  // nor include a path twice
  const roots = shown.filter((path) => !shown.some((other) => isWithin(path, other)));
  return Object.fromEntries(['_id', ...roots].map((path) => [path, 1 as const]));
}
