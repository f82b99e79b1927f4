import type { Collection } from 'mongoose';
import { completeWrites, type Plain } from './collection-wraps.js';
import { SEARCH, searchOf, withSearch } from './search.js';

/**
 * Keeps, in the very writes of a collection's searched fields, what finds its records, and hides it from reads. Each
 * field has an entry of its own, made of the value that the write sets, so that it agrees with the record whatever
 * else is written at the same time.
 */
export function keepSearch(collection: Collection, searched: readonly string[]): void {
  completeWrites(collection, () => [SEARCH], {
    document: (document) => withSearch(document, searched),
    update: (update) => inUpdate(update, searched),
  });
}

const SETTING = ['$set', '$setOnInsert', '$addFields', '$unset'];

/** An update by operators, or by a pipeline. */
function inUpdate(update: object, searched: readonly string[]): object {
  if (Array.isArray(update)) return update.map((stage: Plain) => inStage(stage, searched));
  const set: Plain = {};
  const whole: Plain = { ...update };
  for (const operator of Object.keys(whole)) {
    const fields = (whole[operator] ?? {}) as Plain;
    const touched = searched.filter((field) => Object.hasOwn(fields, field));
    if (touched.length === 0) continue;
    if (!SETTING.includes(operator)) throw new TypeError(`${operator} cannot change the searched field ${touched.join()}`);
    const entries = searchOf(operator === '$unset' ? {} : fields, touched);
    const paths = Object.fromEntries(Object.entries(entries).map(([field, entry]) => [`${SEARCH}.${field}`, entry]));
    if (operator === '$setOnInsert') whole[operator] = { ...fields, ...paths };
    else Object.assign(set, paths);
  }
  return Object.keys(set).length === 0 ? whole : { ...whole, $set: { ...(whole['$set'] as object | undefined), ...set } };
}

function inStage(stage: Plain, searched: readonly string[]): Plain {
  const [operator, fields] = Object.entries(stage)[0] as [string, unknown];
  if (operator !== '$set' && operator !== '$addFields') {
    const named = JSON.stringify(operator === '$unset' ? fields : null);
    const removed = searched.filter((field) => named.includes(`"${field}"`));
    if (removed.length > 0 || operator.startsWith('$replace') || operator === '$project')
      throw new TypeError(`${operator} cannot change a record with searched fields`);
    return stage;
  }
  const touched = searched.filter((field) => Object.hasOwn(fields as Plain, field));
  const values = Object.fromEntries(touched.map((field) => [field, literalOf((fields as Plain)[field], field)]));
  const entries = Object.entries(searchOf(values, touched));
  return { [operator]: { ...(fields as Plain), ...Object.fromEntries(entries.map(([field, $literal]) => [`${SEARCH}.${field}`, { $literal }])) } }; // prettier-ignore
}

/** @throws TypeError for a value that only the store knows */
function literalOf(value: unknown, field: string): unknown {
  if (value === null) return value;
  if (typeof value === 'object' && '$literal' in value) return value.$literal;
  if (typeof value === 'string' && !value.startsWith('$')) return value;
  throw new TypeError(`The searched field ${field} needs a value, not an expression`);
}
