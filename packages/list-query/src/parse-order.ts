import { LIMITS } from './limits.js';
import { expectEnd, expectName, openReader, readList, takeWord, type Reader } from './reader.js';
import type { OrderKey } from './tree.js';

/**
 * Parses `$orderby`: properties, each with `asc` (the default) or `desc`.
 * @throws ListQueryError
 */
export function parseOrder(text: string, parameter = '$orderby'): OrderKey[] {
  const reader = openReader(text, parameter);
  const keys = readOrder(reader);
  expectEnd(reader);
  return keys;
}

export function readOrder(reader: Reader): OrderKey[] {
  return readList(reader, LIMITS.orderKeys, 'sort keys', () => {
    const { text: path, at } = expectName(reader, 'a property');
    const direction = takeWord(reader, 'desc') ? 'desc' : 'asc';
    if (direction === 'asc') takeWord(reader, 'asc');
    return { path, direction, at };
  });
}
