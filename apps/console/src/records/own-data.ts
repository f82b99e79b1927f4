import type { Row } from './call.js';

/** A host's data on a record, whose keys no catalogue knows: PATCH merges it, and null removes a key. */
export const OWN = /^(metadata|privateMetadata)$/;

/** Whether PATCH merges a field by key where it is given such a value. */
const isMerged = (name: string, value: unknown) => OWN.test(name) || (name === 'address' && value !== null);

const dataOf = (value: unknown): Row => (value ?? {}) as Row;

/** What makes data of what it was: its new and other values, and null for what is gone. */
export function dataChanges(before: unknown, after: unknown): Row {
  const [from, to] = [dataOf(before), dataOf(after)];
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
  const other = Object.entries(to).filter(([key, value]) => !Object.hasOwn(from, key) || from[key] !== value);
  return Object.fromEntries([...gone.map((key) => [key, null] as const), ...other]);
}

function merged(before: unknown, changes: unknown): Row {
  return Object.fromEntries(Object.entries({ ...dataOf(before), ...dataOf(changes) }).filter(([, value]) => value !== null));
}

/** The fields of a PATCH as a record has them then. */
export function patched(record: Row, changes: Row): Row {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [name, isMerged(name, value) ? merged(record[name], value) : value]),
  );
}

/** What takes a PATCH of a record back. */
export function patchBack(record: Row, changes: Row): Row {
  return Object.fromEntries(
    Object.entries(patched(record, changes)).map(([name, value]) => [
      name,
      isMerged(name, record[name]) ? dataChanges(value, record[name]) : record[name],
    ]),
  );
}
