import { LIMITS } from './limits.js';
import { expectEnd, expectName, openReader, readList } from './reader.js';
import type { PathReference } from './tree.js';

/**
 * Parses `$expand`: relation names, `category.parent` for a relation of the related record (decisions L6).
 * @throws ListQueryError
 */
export function parseExpand(text: string, parameter = '$expand'): PathReference[] {
  const reader = openReader(text, parameter);
  const items = readList(reader, LIMITS.expansions, 'relations', () => {
    const { text: path, at } = expectName(reader, 'a relation');
    return { path, at };
  });
  expectEnd(reader);
  return items;
}
